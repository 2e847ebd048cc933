# The headers that are installed: what guides and references name, and what these include. A change of one is a change for
# users; all other headers are internal. test/Package/consumer.test compiles them in an installed tree.
set(SHARDKIT_PUBLIC_HEADERS
  # Registration, passes and their options.
  InitAllDialects.h
  InitAllPasses.h
  Options.h
  Passes.h
  Support/PassOptions.h
  # The dialect.
  Dialect/SPMD/IR/AttrNames.h
  Dialect/SPMD/IR/ClosedForm.h
  Dialect/SPMD/IR/Conversion.h
  Dialect/SPMD/IR/MeshCache.h
  Dialect/SPMD/IR/Phases.h
  Dialect/SPMD/IR/SPMD.h
  Dialect/SPMD/IR/SPMDAttrs.h
  Dialect/SPMD/IR/StageFragment.h
  # Layouts and moves, without MLIR.
  Layout/Layout.h
  Layout/Mesh.h
  Layout/ReshardPlan.h
  Layout/Sharding.h
  # Sharding rules of ops of your own.
  Rules/CheckRule.h
  Rules/IndexedOps.h
  Rules/OpForms.h
  Rules/Reshapes.h
  Rules/RuleBuilder.h
  Rules/ShardingRule.h
  Rules/ShardingRuleOpInterface.td
  StableHLO/StableHLORules.h
  # Collectives for other compilers.
  Conversion/CollectiveConversion.h)

# What TableGen writes for them.
set(SHARDKIT_PUBLIC_GENERATED
  Dialect/SPMD/IR/SPMDAttrs.h.inc
  Dialect/SPMD/IR/SPMDCollectives.h.inc
  Dialect/SPMD/IR/SPMDDialect.h.inc
  Dialect/SPMD/IR/SPMDEnums.h.inc
  Dialect/SPMD/IR/SPMDInterfaces.h.inc
  Dialect/SPMD/IR/SPMDOps.h.inc
  Dialect/SPMD/IR/SPMDStages.h.inc
  Passes.h.inc
  Pipelines.h.inc
  Rules/ShardingRuleOpInterface.h.inc)

function(install_shardkit_headers)
  foreach(header IN LISTS SHARDKIT_PUBLIC_HEADERS)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/include/shardkit/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shardkit/${folder})
  endforeach()
  foreach(header IN LISTS SHARDKIT_PUBLIC_GENERATED)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_BINARY_DIR}/include/shardkit/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shardkit/${folder})
  endforeach()
endfunction()
