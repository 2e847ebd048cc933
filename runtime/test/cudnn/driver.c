/*===- driver.c - A libcuda.so.1 that loads nothing ------------------------===*
 *
 * For scripts/check-cudnn: cuDNN compiles kernels and asks the driver to load them before
 * a plan is whole. There is no device, and nothing runs.
 *
 *===----------------------------------------------------------------------===*/

enum { success = 0, no_device = 100 };
static char loaded; /* What every handle is. */

int cuInit(void) { return no_device; }
int cuDriverGetVersion(int *version) { return *version = 13000, success; }
int cuDeviceGetCount(int *count) { return *count = 1, success; }
int cuDeviceGet(int *device) { return *device = 0, success; }
int cuGetErrorName(int error, const char **name) { return (void)error, *name = "error", success; }
int cuGetErrorString(int error, const char **text) { return (void)error, *text = "error", success; }
int cuCtxGetCurrent(void **context) { return *context = &loaded, success; }
int cuLibraryLoadData(void **library) { return *library = &loaded, success; }
int cuLibraryGetKernel(void **kernel) { return *kernel = &loaded, success; }
int cuKernelGetFunction(void **function) { return *function = &loaded, success; }
int cuModuleLoadData(void **module) { return *module = &loaded, success; }
int cuModuleGetFunction(void **function) { return *function = &loaded, success; }
int cuKernelGetAttribute(int *value) { return *value = 0, success; }
int cuOccupancyMaxPotentialClusterSize(int *size) { return *size = 8, success; }

#define NOTHING(name)                                                                                                  \
  int name(void) { return success; }
NOTHING(cuCtxGetLimit)
NOTHING(cuCtxPopCurrent)
NOTHING(cuCtxPushCurrent)
NOTHING(cuGetProcAddress)
NOTHING(cuGetProcAddress_v2)
NOTHING(cuKernelSetAttribute)
NOTHING(cuLaunchCooperativeKernel)
NOTHING(cuLaunchKernel)
NOTHING(cuLaunchKernelEx)
NOTHING(cuLibraryLoadFromFile)
NOTHING(cuLibraryUnload)
NOTHING(cuLinkAddData)
NOTHING(cuLinkComplete)
NOTHING(cuLinkCreate)
NOTHING(cuLinkDestroy)
NOTHING(cuModuleUnload)
NOTHING(cuStreamGetCtx)
NOTHING(cuTensorMapEncodeIm2col)
NOTHING(cuTensorMapEncodeTiled)
