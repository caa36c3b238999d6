/* TF_Version. */
#include "memory.h"

/* tf.__version__ of the package; the build says which. */
#ifndef TL_VERSION
#define TL_VERSION "1.15.0"
#endif

const char* TF_Version(void) { return TL_VERSION; }
