//===- ManifestVersion1.h - Manifests of version 1 --------------*- C++ -*-===//

#ifndef SHARDKIT_RT_LIB_MANIFEST_MANIFESTVERSION1_H
#define SHARDKIT_RT_LIB_MANIFEST_MANIFESTVERSION1_H

#include <nlohmann/json.hpp>

namespace shardkit::rt {

/// Rewrites a manifest.json of version 1 as one of version 2. Members that do not have the form
/// of version 1 stay as they are: the reader of version 2 reports them. Throws ManifestError for
/// a function that belongs to no stage of a pipeline.
void translateVersion1(nlohmann::json &manifest);

/// The same for a weight manifest or presharded.json.
void translateWeightsVersion1(nlohmann::json &manifest);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LIB_MANIFEST_MANIFESTVERSION1_H
