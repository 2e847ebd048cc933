//===- DeviceLibraryData.c - The bitcode of DeviceLibrary.c ---------------===//

#include <stddef.h>

const unsigned char shardkit_device_library[] = {
#embed SHARDKIT_DEVICE_LIBRARY
};
const size_t shardkit_device_library_size = sizeof(shardkit_device_library);
