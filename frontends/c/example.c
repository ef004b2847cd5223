/* Sums a tensor over all ranks of a session, and counts the wrong results:
 *
 *   weirrun -np 2 --servers 1 build/release/frontends/c/weir_c_example
 */
#include <stdio.h>
#include <stdlib.h>

#include "frontends/c/weir.h"

enum { kElements = 1000000 };

/* On failure, reports it, tells the other ranks by weir_abort(), and ends the process. */
static void check(weir_status status, const char* what) {
  char why[512];
  if (status == WEIR_OK) return;
  snprintf(why, sizeof why, "%s: %s", what, weir_error());
  fprintf(stderr, "rank %d: %s\n", (int)weir_rank(), why);
  weir_abort(why);
  exit(1);
}

int main(void) {
  const weir_tensor tensor = {"gradient", kElements, WEIR_F32, 0, 0, NULL};
  float* values = malloc(kElements * sizeof *values);
  weir_handle handle = 0;
  int wrong = 0;
  if (values == NULL) return 1;
  if (weir_abi_version() != WEIR_ABI_VERSION) {
    fprintf(stderr, "libweir is of another version: %s\n", weir_version());
    return 1;
  }
  check(weir_init(NULL), "weir_init");
  check(weir_declare(&tensor, 1), "weir_declare");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kElements; ++i) values[i] = (float)(weir_rank() + round);
    check(weir_push_pull(tensor.name, values, values, tensor.elements, tensor.dtype, tensor.kind, -1, NULL,
                         &handle),
          "weir_push_pull");
    /* Do other work here while the library's threads move and sum the bytes. */
    check(weir_wait(handle), "weir_wait");
    const int32_t sum = weir_size() * (weir_size() - 1) / 2 + weir_size() * round;
    for (int i = 0; i < kElements; ++i) wrong += values[i] != (float)sum;
  }
  printf("rank %d of %d: %d sums are wrong\n", (int)weir_rank(), (int)weir_size(), wrong);
  check(weir_shutdown(), "weir_shutdown");
  free(values);
  return wrong == 0 ? 0 : 1;
}
