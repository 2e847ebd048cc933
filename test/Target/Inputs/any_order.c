/* Takes the place of sk_parallel: each iteration is a part, and they come in an order of
 * their own, so that results differ where one needs what another one leaves. */
#include <stdint.h>

typedef void (*sk_part)(int64_t begin, int64_t end, void *const *args);

__attribute__((visibility("default"))) void sk_parallel(void *ctx, int64_t count, sk_part part, void *const *args) {
  (void)ctx;
  /* Odd ones from the last on, then even ones. */
  for (int64_t first = 1; first >= 0; --first)
    for (int64_t i = count - 1; i >= 0; --i)
      if (i % 2 == first)
        part(i, i + 1, args);
}
