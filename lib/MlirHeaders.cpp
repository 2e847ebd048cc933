//===- MlirHeaders.cpp - What the precompiled headers belong to -----------===//
