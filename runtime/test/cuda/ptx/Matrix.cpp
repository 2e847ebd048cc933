//===- Matrix.cpp - mma.sync and ldmatrix ---------------------------------===//

#include "Decode.h"

namespace shardkit::emu {

namespace {

/// All 32 lanes, or nothing is right.
bool whole(Exec &e, const Inst &i) {
  if (e.mask == e.warp->alive && e.warp->alive == 0xffffffffu)
    return true;
  if (e.warp->alive != 0xffffffffu)
    e.fault(FaultKind::Instruction, i, std::countr_zero(e.mask), "needs a full warp");
  e.setPc(e.group, e.pc);
  e.setPc(e.mask, e.pc - 1);
  e.warp->atSync |= e.mask;
  e.reselect = true;
  return false;
}

template <typename T> float element(uint32_t word, int half) {
  if constexpr (std::is_same_v<T, float>)
    return floatOf(word & 0xffffe000); // tf32: what lies below is ignored.
  else
    return float(T{uint16_t(word >> (16 * half))});
}

// Rows of D (4 or 2), A, B, C in op. D = A * B + C on 16 x 8 x K. K elements of one lane in
// a row of A come in pairs (or single, tf32), spread over the 4 lanes of a group.
template <typename T, int K, bool HalfOut> void mma(Exec &e, const Inst &i) {
  if (!whole(e, i))
    return;
  constexpr int kPer = std::is_same_v<T, float> ? 1 : 2; // Elements in a register.
  constexpr int kSteps = K / (4 * kPer);                 // Registers along K.
  constexpr int kOut = HalfOut ? 2 : 4;
  float a[16][K], b[K][8], c[16][8];
  size_t at = kOut;
  const uint32_t *ar[2 * kSteps], *br[kSteps], *cr[kOut];
  for (auto &r : ar)
    r = e.row<uint32_t>(i.op[at++]);
  for (auto &r : br)
    r = e.row<uint32_t>(i.op[at++]);
  for (auto &r : cr)
    r = e.row<uint32_t>(i.op[at++]);
  for (int l = 0; l < 32; ++l) {
    int g = l / 4, t = l % 4;
    for (int s = 0; s < kSteps; ++s)
      for (int p = 0; p < kPer; ++p) {
        int k = s * 4 * kPer + t * kPer + p;
        a[g][k] = element<T>(ar[2 * s][l], p);
        a[g + 8][k] = element<T>(ar[2 * s + 1][l], p);
        b[k][g] = element<T>(br[s][l], p);
      }
    for (int r = 0; r < 4; ++r) {
      float v;
      if constexpr (HalfOut)
        v = float(F16{uint16_t(cr[r / 2][l] >> (16 * (r % 2)))});
      else
        v = floatOf(cr[r][l]);
      c[g + 8 * (r / 2)][t * 2 + r % 2] = v;
    }
  }
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      float sum = c[m][n];
      for (int k = 0; k < K; ++k)
        sum += a[m][k] * b[k][n];
      c[m][n] = sum;
    }
  for (int l = 0; l < 32; ++l) {
    int g = l / 4, t = l % 4;
    for (int r = 0; r < 4; ++r) {
      float v = c[g + 8 * (r / 2)][t * 2 + r % 2];
      if constexpr (HalfOut) {
        auto *out = e.row<std::array<uint16_t, 2>>(i.op[size_t(r / 2)]);
        out[l][size_t(r % 2)] = floatToHalf(v);
      } else {
        e.row<float>(i.op[size_t(r)])[l] = v;
      }
    }
  }
}

/// m8n8k4 of f64: D, A, B, C of 2, 1, 1, 2 registers.
void mmaDouble(Exec &e, const Inst &i) {
  if (!whole(e, i))
    return;
  double a[8][4], b[4][8], c[8][8];
  for (int l = 0; l < 32; ++l) {
    int g = l / 4, t = l % 4;
    a[g][t] = e.row<double>(i.op[2])[l];
    b[t][g] = e.row<double>(i.op[3])[l];
    for (int r = 0; r < 2; ++r)
      c[g][t * 2 + r] = e.row<double>(i.op[size_t(4 + r)])[l];
  }
  for (int l = 0; l < 32; ++l)
    for (int r = 0; r < 2; ++r) {
      int m = l / 4, n = l % 4 * 2 + r;
      double sum = c[m][n];
      for (int k = 0; k < 4; ++k)
        sum = std::fma(a[m][k], b[k][n], sum);
      e.row<double>(i.op[size_t(r)])[l] = sum;
    }
}

size_t put(Decoder &d, Inst &inst, size_t at, const Operand &o, size_t count, int bytes, bool to) {
  std::vector<Operand> one{o};
  const std::vector<Operand> &parts = o.kind == Operand::Vector ? o.parts : one;
  if (parts.size() != count)
    d.fail("expected " + std::to_string(count) + " registers");
  for (const Operand &part : parts)
    inst.op[at++] = to ? d.destination(part, bytes) : d.source(part, bytes);
  return at;
}

void decodeMma(Decoder &d, Inst &inst) {
  if (!d.has("sync") || !d.has("row") || !d.has("col"))
    d.fail("only mma.sync with .row.col is supported");
  if (d.has("sp") || d.has("sp::ordered_metadata"))
    d.fail("sparse mma is not supported");
  Type dt = d.type(0), at = d.type(1), bt = d.type(2), ct = d.type(3);
  if (d.has("m8n8k4") && dt == Type::F64) {
    size_t n = put(d, inst, 0, d.operand(0), 2, 8, true);
    n = put(d, inst, n, d.operand(1), 1, 8, false);
    n = put(d, inst, n, d.operand(2), 1, 8, false);
    put(d, inst, n, d.operand(3), 2, 8, false);
    inst.run = mmaDouble;
    return;
  }
  int k = d.has("m16n8k4") ? 4 : d.has("m16n8k8") ? 8 : d.has("m16n8k16") ? 16 : 0;
  bool half = dt == Type::F16;
  if (!k || at != bt || dt != ct || (!half && dt != Type::F32))
    d.fail("this shape or these types are not supported");
  size_t steps = size_t(at == Type::TF32 ? k / 4 : k / 8), out = half ? 2 : 4;
  size_t n = put(d, inst, 0, d.operand(0), out, 4, true);
  n = put(d, inst, n, d.operand(1), 2 * steps, 4, false);
  n = put(d, inst, n, d.operand(2), steps, 4, false);
  put(d, inst, n, d.operand(3), out, 4, false);
  if (at == Type::F16)
    inst.run = k == 8    ? (half ? mma<F16, 8, true> : mma<F16, 8, false>)
               : k == 16 ? (half ? mma<F16, 16, true> : mma<F16, 16, false>)
                         : nullptr;
  else if (at == Type::BF16 && !half)
    inst.run = k == 8 ? mma<BF16, 8, false> : k == 16 ? mma<BF16, 16, false> : nullptr;
  else if (at == Type::TF32 && !half)
    inst.run = k == 4 ? mma<float, 4, false> : k == 8 ? mma<float, 8, false> : nullptr;
}

// ldmatrix: count 8x8 matrices of 2-byte elements; lane 8m + r has the address of row r of
// matrix m. mode: transposed. op: count registers, the address.
void ldmatrix(Exec &e, const Inst &i) {
  if (!whole(e, i))
    return;
  for (int m = 0; m < i.count; ++m) {
    uint16_t matrix[8][8];
    for (int r = 0; r < 8; ++r) {
      int l = 8 * m + r;
      uint64_t base = i.wide[2] == 8 ? e.row<uint64_t>(i.op[i.count])[l] : e.row<uint32_t>(i.op[i.count])[l];
      memcpy(matrix[r], e.at(i, i.space, base + uint64_t(i.offset), 16, l, Read), 16);
    }
    auto *out = e.row<std::array<uint16_t, 2>>(i.op[size_t(m)]);
    for (int l = 0; l < 32; ++l)
      for (int p = 0; p < 2; ++p) {
        int row = l / 4, column = l % 4 * 2 + p;
        out[l][size_t(p)] = i.mode ? matrix[column][row] : matrix[row][column];
      }
  }
}
void stmatrix(Exec &e, const Inst &i) {
  if (!whole(e, i))
    return;
  for (int m = 0; m < i.count; ++m) {
    uint16_t matrix[8][8];
    auto *in = e.row<std::array<uint16_t, 2>>(i.op[size_t(m)]);
    for (int l = 0; l < 32; ++l)
      for (int p = 0; p < 2; ++p) {
        int row = l / 4, column = l % 4 * 2 + p;
        (i.mode ? matrix[column][row] : matrix[row][column]) = in[l][size_t(p)];
      }
    for (int r = 0; r < 8; ++r) {
      int l = 8 * m + r;
      uint64_t base = i.wide[2] == 8 ? e.row<uint64_t>(i.op[i.count])[l] : e.row<uint32_t>(i.op[i.count])[l];
      memcpy(e.at(i, i.space, base + uint64_t(i.offset), 16, l, Write), matrix[r], 16);
    }
  }
}

void decodeMatrixMemory(Decoder &d, Inst &inst) {
  bool ld = d.statement().op == "ldmatrix";
  if (!d.has("m8n8") || d.type() != Type::B16)
    d.fail("only .m8n8 of .b16 is supported");
  inst.count = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
  inst.mode = d.has("trans");
  inst.space = d.has("shared") || d.has("shared::cta") ? Space::Shared : Space::Generic;
  put(d, inst, 0, d.operand(ld ? 0 : 1), inst.count, 4, ld);
  inst.op[inst.count] = d.address(d.operand(ld ? 1 : 0), inst);
  inst.run = ld ? ldmatrix : stmatrix;
}

} // namespace

void addMatrixOps(DecodeTable &t) {
  t["mma"] = decodeMma;
  t["ldmatrix"] = t["stmatrix"] = decodeMatrixMemory;
}

} // namespace shardkit::emu
