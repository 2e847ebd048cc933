//===- ManifestText.h - Objects that both kinds of manifests have -*- C++ -*-==//

#ifndef SHARDKIT_RT_LIB_MANIFEST_MANIFESTTEXT_H
#define SHARDKIT_RT_LIB_MANIFEST_MANIFESTTEXT_H

#include "shardkit/rt/Manifest/Manifest.h"

#include <nlohmann/json.hpp>

namespace shardkit::rt {

nlohmann::ordered_json extentsJson(const Extents &extents);
/// A weight manifest has no programs: it omits the functions (`isFunctionWritten`).
nlohmann::ordered_json loadJson(const LoadInfo &load, bool isFunctionWritten);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LIB_MANIFEST_MANIFESTTEXT_H
