/* The collectives of a converted program (--convert-spmd-to-calls) over MPI: what an embedder
 * defines. One exchange serves all kinds: each element is sent once to each rank that reads it.
 * Ranks are those of MPI_COMM_WORLD, and one thread calls. A faster implementation maps kinds to
 * MPI's own collectives, and copies runs of elements instead of elements. */

#include "Combine.h"
#include "shardkit-c/CollectiveElements.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int world_size(void) {
  int initialized, size;
  MPI_Initialized(&initialized);
  if (!initialized)
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &size);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int64_t shardkit_rank(void) {
  int rank;
  world_size();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/* The members of the group of this rank, by their ranks in the communicator of the group. Each
 * group has one communicator for as long as the program runs. */
typedef struct Group {
  MPI_Comm comm;
  int size, *ranks;
  struct Group *next;
} Group;

static const Group *find_group(const shardkit_move *m) {
  static Group *groups;
  const int64_t me = shardkit_rank();
  int *ranks = malloc((size_t)m->c->devices * sizeof *ranks), size = 0;
  for (int64_t rank = 0; rank < m->c->devices; ++rank)
    if (shardkit_differ_in(m->digits, m->c->num_digits, rank, me))
      ranks[size++] = (int)rank;
  for (Group *g = groups; g; g = g->next)
    if (g->size == size && memcmp(g->ranks, ranks, (size_t)size * sizeof *ranks) == 0) {
      free(ranks);
      return g;
    }
  Group *g = malloc(sizeof *g);
  MPI_Group world, members;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size, ranks, &members);
  MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &g->comm);
  *g = (Group){g->comm, size, ranks, groups};
  return groups = g;
}

/* The elements from and to each member, in the order in which the reader visits them. */
typedef struct Exchange {
  const shardkit_move *m;
  const Group *group;
  int64_t me;
  int reader, step;                             /* The member that reads; what `visit` does. */
  int *sent, *received, *sent_at, *received_at; /* Elements, and the next one, by member. */
  const char *in;
  char *out, *to_send, *to_read;
} Exchange;
enum { COUNT, PACK, UNPACK };

static void visit(void *data, int64_t from, int64_t source, int64_t destination) {
  Exchange *e = data;
  const shardkit_collective *c = e->m->c;
  const size_t bytes = (size_t)c->element_bytes;
  char *out = e->out + destination * c->element_bytes;
  Accumulator sum = {0};
  int n = 0;
  for (int k = 0; k < e->group->size; ++k) {
    const int64_t sender = e->group->ranks[k];
    if (!shardkit_differ_in(e->m->reduce, c->num_reduce, sender, from))
      continue;
    if (e->step == UNPACK) { /* In rising order of ranks. */
      const char *element = e->to_read + (size_t)e->received_at[k]++ * bytes;
      if (c->num_reduce == 0)
        memcpy(out, element, bytes);
      else
        sum = n++ ? combine(c, sum, load(element, c->type)) : load(element, c->type);
      continue;
    }
    const int is_mine = sender == e->me, reads = e->group->ranks[e->reader] == e->me;
    if (e->step == COUNT && reads)
      e->received[k] += 1;
    if (e->step == COUNT && is_mine)
      e->sent[e->reader] += 1;
    if (e->step == PACK && is_mine)
      memcpy(e->to_send + (size_t)e->sent_at[e->reader]++ * bytes, e->in + source * c->element_bytes, bytes);
  }
  if (n)
    store(out, c->type, sum);
}

static int to_offsets(const int *counts, int *offsets, int n) {
  int sum = 0;
  for (int k = 0; k < n; sum += counts[k++])
    offsets[k] = sum;
  return sum;
}

static void exchange(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out) {
  const shardkit_move m = shardkit_read(c, offsets);
  const Group *g = find_group(&m);
  const int n = g->size;
  int *counts = calloc((size_t)n * 6, sizeof *counts);
  Exchange e = {&m, g, shardkit_rank(), 0, COUNT, counts, counts + n, counts + 2 * n, counts + 3 * n, in, out, 0, 0};
  for (e.reader = 0; e.reader < n; ++e.reader)
    shardkit_for_each_element(c, offsets, g->ranks[e.reader], visit, &e);
  e.to_send = malloc((size_t)to_offsets(e.sent, e.sent_at, n) * (size_t)c->element_bytes + 1);
  e.to_read = malloc((size_t)to_offsets(e.received, e.received_at, n) * (size_t)c->element_bytes + 1);
  memcpy(counts + 4 * n, e.sent_at, 2 * (size_t)n * sizeof *counts);
  e.step = PACK;
  for (e.reader = 0; e.reader < n; ++e.reader)
    shardkit_for_each_element(c, offsets, g->ranks[e.reader], visit, &e);
  MPI_Datatype element;
  MPI_Type_contiguous((int)c->element_bytes, MPI_BYTE, &element);
  MPI_Type_commit(&element);
  MPI_Alltoallv(e.to_send, e.sent, counts + 4 * n, element, e.to_read, e.received, counts + 5 * n, element, g->comm);
  MPI_Type_free(&element);
  if (c->num_segments) /* What no rank sends is padding. */
    memset(out, 0, (size_t)(c->out_elements * c->element_bytes));
  e.step = UNPACK;
  shardkit_for_each_element(c, offsets, e.me, visit, &e);
  free(e.to_send);
  free(e.to_read);
  free(counts);
}

#define KIND(name)                                                                                                     \
  void shardkit_##name(const shardkit_collective *c, const int64_t *offsets, const void *in, void *out) {              \
    exchange(c, offsets, in, out);                                                                                     \
  }
KIND(all_slice)
KIND(all_gather)
KIND(all_reduce)
KIND(reduce_scatter)
KIND(all_to_all)
KIND(collective_permute)
KIND(exchange)
