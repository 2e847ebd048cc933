/*===- CollectiveElements.h - Evaluates a descriptor --------------*- C -*-===*\
 *
 * Which rank sends which element to which rank, one by one: the meaning of a
 * shardkit_collective as code. It is for implementations that come to terms with one call per
 * element, and for tests of others, which read loops as loops.
 *
\*===----------------------------------------------------------------------===*/

#ifndef SHARDKIT_C_COLLECTIVEELEMENTS_H
#define SHARDKIT_C_COLLECTIVEELEMENTS_H

#include "shardkit-c/Collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element `destination` of the result is element `source` of the operand of rank `from`, or of all
 * ranks that differ from it in the digits `reduce` alone (shardkit_is_combined). */
typedef void (*shardkit_visitor)(void *data, int64_t from, int64_t source, int64_t destination);

/* A descriptor with the addresses of its arrays. */
typedef struct shardkit_move {
  const shardkit_collective *c;
  const shardkit_rank_digit *digits, *reduce, *spread;
  const shardkit_loop *loops;
  const int64_t *segments, *source_order, *destination_order;
  const int64_t *offsets;
  int64_t rank; /* The rank that has the result, in the order of that side. */
  shardkit_visitor visit;
  void *data;
} shardkit_move;

static inline const int64_t *shardkit_after_segment(const int64_t *words) {
  const shardkit_segment *segment = (const shardkit_segment *)words;
  return (const int64_t *)((const shardkit_digit *)(segment + 1) + segment->num_source + segment->num_destination);
}

static inline shardkit_move shardkit_read(const shardkit_collective *c, const int64_t *offsets) {
  shardkit_move m = {c, 0, 0, 0, 0, 0, 0, 0, offsets, 0, 0, 0};
  m.digits = (const shardkit_rank_digit *)(c + 1);
  m.reduce = m.digits + c->num_digits;
  m.loops = (const shardkit_loop *)(m.reduce + c->num_reduce);
  m.spread = (const shardkit_rank_digit *)(m.loops + c->num_loops);
  m.segments = m.source_order = (const int64_t *)(m.spread + c->num_spread);
  for (int64_t i = 0; i < c->num_segments; ++i)
    m.source_order = shardkit_after_segment(m.source_order);
  m.destination_order = m.source_order + c->num_source_order;
  return m;
}

/* `rank` with another value of a digit. */
static inline int64_t shardkit_with_digit(int64_t rank, int64_t stride, int64_t size, int64_t value) {
  return rank + (value - rank / stride % size) * stride;
}

/* Whether two ranks differ in these digits alone. */
static inline int shardkit_differ_in(const shardkit_rank_digit *digits, int64_t n, int64_t a, int64_t b) {
  for (int64_t i = 0; i < n; ++i)
    a = shardkit_with_digit(a, digits[i].stride, digits[i].size, b / digits[i].stride % digits[i].size);
  return a == b;
}

/* The iterations of loop or segment `k` and those after it. `shift` is that of the digits `spread`. */
static inline void shardkit_walk(const shardkit_move *m, int64_t k, const int64_t *words, int64_t from, int64_t shift,
                                 int64_t source, int64_t destination) {
  const shardkit_collective *c = m->c;
  if (k < c->num_loops) {
    const shardkit_loop loop = m->loops[k];
    const int64_t own = loop.destination_is_rank && loop.size ? m->rank / loop.destination_stride % loop.size : 0;
    for (int64_t i = 0; i < loop.size; ++i)
      if (!loop.destination_is_rank || i == own)
        shardkit_walk(m, k + 1, words,
                      loop.source_is_rank ? shardkit_with_digit(from, loop.source_stride, loop.size, i) : from, shift,
                      source + (loop.source_is_rank ? 0 : i * loop.source_stride),
                      destination + (loop.destination_is_rank ? 0 : i * loop.destination_stride));
    return;
  }
  if (k == c->num_loops + c->num_segments) {
    for (int64_t i = 0; i < c->num_spread; ++i) {
      const int64_t size = m->spread[i].size, value = (m->rank / m->spread[i].stride + shift) % size;
      from = shardkit_with_digit(from, m->spread[i].stride, size, (value + size) % size);
    }
    m->visit(m->data, c->num_source_order ? m->source_order[from] : from, source, destination);
    return;
  }
  const shardkit_segment *segment = (const shardkit_segment *)words;
  const shardkit_digit *src = (const shardkit_digit *)(segment + 1), *dst = src + segment->num_source;
  int64_t coordinate = 0, length = 1;
  for (int64_t i = 0; i < segment->num_destination; ++i)
    if (dst[i].is_rank)
      coordinate = coordinate * dst[i].size + m->rank / dst[i].stride % dst[i].size;
    else
      length = dst[i].size;
  int64_t begin = 0, end = segment->size;
  if (segment->has_window) {
    begin = segment->step * coordinate + segment->offset + (segment->added >= 0 ? m->offsets[segment->added] : 0);
    end = begin + length;
  }
  for (int64_t index = begin < 0 ? 0 : begin; index < end && index < segment->size; ++index) {
    /* 1. The destination: the element of the window, or the digits. */
    int64_t to = destination, value = segment->has_window ? index - begin : index;
    int is_own = 1;
    for (int64_t i = segment->num_destination; i-- > 0;) {
      if (dst[i].is_rank && segment->has_window)
        continue;
      if (dst[i].is_rank)
        is_own &= value % dst[i].size == m->rank / dst[i].stride % dst[i].size;
      else
        to += value % dst[i].size * dst[i].stride;
      value /= dst[i].size;
    }
    if (!is_own)
      continue;
    /* 2. The source. */
    int64_t peer = from, shifted = shift, element = source;
    value = index;
    for (int64_t i = segment->num_source; i-- > 0; value /= src[i].size)
      if (src[i].is_rank) {
        peer = shardkit_with_digit(peer, src[i].stride, src[i].size, value % src[i].size);
        shifted += m->rank / src[i].stride % src[i].size - value % src[i].size;
      } else {
        element += value % src[i].size * src[i].stride;
      }
    shardkit_walk(m, k + 1, shardkit_after_segment(words), peer, shifted, element, to);
  }
}

/* Visits the elements that rank `to` receives, padding excluded. */
static inline void shardkit_for_each_element(const shardkit_collective *c, const int64_t *offsets, int64_t to,
                                             shardkit_visitor visit, void *data) {
  shardkit_move m = shardkit_read(c, offsets);
  m.rank = to;
  m.visit = visit;
  m.data = data;
  for (int64_t i = 0; i < c->num_destination_order; ++i)
    if (m.destination_order[i] == to)
      m.rank = i;
  shardkit_walk(&m, 0, m.segments, c->num_source_order || c->num_destination_order ? 0 : to, 0, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_COLLECTIVEELEMENTS_H */
