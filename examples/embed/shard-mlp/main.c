/* Calls the program of a device in each process, and compares its shard with the full result. */

#include <mpi.h>
#include <stdio.h>

enum { M = 8, K = 16, N = 32, P = 12 };

/* Pointers to the local arguments, then to the local result. */
void mlp(float *x, float *w1, float *w2, float *y);

/* Small integers, so that sums are exact in any order. */
static float x(int i, int k) { return (float)((7 * i + 3 * k) % 5 - 2); }
static float w1(int k, int j) { return (float)((5 * k + 2 * j) % 7 - 3); }
static float w2(int j, int p) { return (float)((3 * j + 4 * p) % 9 - 4); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int row = rank / 2, column = rank % 2; /* Coordinates on the grid. */
  static float lx[M / 2][K], lw1[K][N / 2], lw2[N / 2][P], ly[M / 2][P];
  for (int i = 0; i < M / 2; ++i)
    for (int k = 0; k < K; ++k)
      lx[i][k] = x(row * M / 2 + i, k);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N / 2; ++j)
      lw1[k][j] = w1(k, column * N / 2 + j);
  for (int j = 0; j < N / 2; ++j)
    for (int p = 0; p < P; ++p)
      lw2[j][p] = w2(column * N / 2 + j, p);
  for (int step = 0; step < 3; ++step)
    mlp(lx[0], lw1[0], lw2[0], ly[0]);
  for (int i = 0; i < M / 2; ++i)
    for (int p = 0; p < P; ++p) {
      float y = 0;
      for (int j = 0; j < N; ++j) {
        float h = 0;
        for (int k = 0; k < K; ++k)
          h += x(row * M / 2 + i, k) * w1(k, j);
        y += (h > 0 ? h : 0) * w2(j, p);
      }
      bad += y != ly[i][p];
    }
  MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d of %d elements differ, y[0][0] = %g\n", all, 2 * M * P, (double)ly[0][0]);
  MPI_Finalize();
  return bad != 0;
}
