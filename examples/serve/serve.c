/* Serves a bundle from C: opens it once, loads its weights, and answers requests from standard input.
 *
 *   serve BUNDLE WEIGHTS            (WEIGHTS: a file or directory; "random" for random numbers)
 *
 * A request is a line with one .npy file for each input of the function, in order; the answer is a line with the
 * first elements of each result and the time of the call. Errors of a request are answered too, and the next one is
 * read.
 */
#include "shardkit/rt/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ARGUMENTS = 4096, MAX_RESULTS = 64 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The elements of a .npy file of `bytes` bytes, to be freed; NULL if it has another size. */
static void *read_npy(const char *path, int64_t bytes) {
  unsigned char head[12];
  void *data = NULL;
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  if (fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "\x93NUMPY", 6) == 0) {
    long offset = head[6] == 1 ? 10 + head[8] + 256L * head[9]
                               : 12 + head[8] + 256L * head[9] + 65536L * head[10] + 16777216L * head[11];
    fseek(file, 0, SEEK_END);
    if (ftell(file) - offset == bytes && fseek(file, offset, SEEK_SET) == 0 && (data = malloc(bytes ? bytes : 1)) &&
        fread(data, 1, bytes, file) != (size_t)bytes) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

/* One request: files of the inputs, one after the other. */
static void answer(sk_session *session, const sk_function_info *function, char *line) {
  static sk_argument arguments[MAX_ARGUMENTS];
  sk_array *results[MAX_RESULTS] = {NULL};
  double start, end;
  int32_t i, k, count = 0;
  char *word = strtok(line, " \n");
  memset(arguments, 0, sizeof arguments);
  for (i = 0; i < function->arguments; ++i) {
    sk_value_info info;
    sk_session_argument(session, 0, i, &info);
    if (info.kind != SK_INPUT)
      continue;
    arguments[i].data = word ? read_npy(word, info.bytes) : NULL;
    if (!arguments[i].data) {
      printf("error: %s: no .npy file of %lld bytes for %s\n", word ? word : "(missing)", (long long)info.bytes,
             info.name);
      goto done;
    }
    word = strtok(NULL, " \n");
  }
  start = seconds();
  if (sk_session_call(session, 0, arguments, function->arguments, 0, results)) {
    printf("error: %s\n", sk_last_error());
    goto done;
  }
  end = seconds();
  for (k = 0; k < function->results; ++k) {
    sk_value_info info;
    float *values;
    sk_array_info(results[k], &info);
    values = malloc(info.bytes ? info.bytes : 1);
    if (values && info.dtype == SK_F32 && sk_array_read(results[k], values, info.bytes) == 0) {
      printf("%s:", info.name);
      for (count = 0; count < 3 && count * 4 < info.bytes; ++count)
        printf(" %.6g", values[count]);
      printf("; ");
    }
    free(values);
  }
  printf("%.3f ms\n", 1e3 * (end - start));
done:
  for (k = 0; k < function->results; ++k)
    sk_array_release(results[k]);
  for (i = 0; i < function->arguments; ++i)
    free((void *)arguments[i].data);
}

int main(int argc, char **argv) {
  sk_session *session;
  sk_function_info function;
  char line[1 << 16];
  int failed;
  if (argc != 3) {
    fprintf(stderr, "usage: %s BUNDLE WEIGHTS\n", argv[0]);
    return 1;
  }
  if (sk_session_open(NULL, &session)) {
    fprintf(stderr, "error: %s\n", sk_last_error());
    return 1;
  }
  failed = sk_session_add_bundle(session, argv[1], NULL) || sk_session_function(session, 0, &function) ||
           (strcmp(argv[2], "random") == 0 ? sk_session_fill_random(session, 1) : sk_session_load(session, argv[2]));
  if (failed)
    fprintf(stderr, "error: %s\n", sk_last_error());
  if (!failed && (function.arguments > MAX_ARGUMENTS || function.results > MAX_RESULTS)) {
    fprintf(stderr, "error: %s has more than %d arguments or %d results\n", function.name, MAX_ARGUMENTS, MAX_RESULTS);
    failed = 1;
  }
  if (!failed)
    printf("serving %s on %lld devices\n", function.name, (long long)function.devices);
  fflush(stdout);
  while (!failed && fgets(line, sizeof line, stdin)) {
    answer(session, &function, line);
    fflush(stdout);
  }
  sk_session_close(session);
  return failed;
}
