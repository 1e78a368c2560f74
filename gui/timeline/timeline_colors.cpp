#include "gui/timeline/timeline_colors.h"

#include <algorithm>
#include <array>

namespace ddbench::gui {
namespace {

constexpr float kLeastSeen = 0.22F;  ///< however little a column is covered, it shows
constexpr float kFaint = 0.25F;
constexpr auto kHost = static_cast<std::size_t>(SpanKind::kHost);

QColor mixed(const QColor& a, const QColor& b, float share) {
  return QColor::fromRgbF(a.redF() * share + b.redF() * (1 - share),
                          a.greenF() * share + b.greenF() * (1 - share),
                          a.blueF() * share + b.blueF() * (1 - share));
}

struct Channels {
  float red = 0;
  float green = 0;
  float blue = 0;
};

Channels channels_of(const QColor& color) {
  return {static_cast<float>(color.red()), static_cast<float>(color.green()),
          static_cast<float>(color.blue())};
}

}  // namespace

const reports::Ink& ink_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kForward: return reports::ink_for("forward", 0);
    case SpanKind::kBackward: return reports::ink_for("backward", 0);
    case SpanKind::kOptimizer: return reports::ink_for("optimizer", 0);
    case SpanKind::kCompute: return reports::ink_for("other_compute", 0);
    case SpanKind::kCommunication: return reports::ink_for("exposed_transfer", 0);
    case SpanKind::kCopy: return reports::ink_for("copy", 0);
    case SpanKind::kDataWait: return reports::ink_for("data_wait", 0);
    default: return reports::ink_for("host", 0);
  }
}

QColor color_of(SpanKind kind) {
  return theme().ink(ink_of(kind));
}

QColor faint_color_of(SpanKind kind) {
  return mixed(color_of(kind), theme().raised, kFaint);
}

QColor text_on(SpanKind kind) {
  const QColor ground = color_of(kind);
  const double light = 0.299 * ground.red() + 0.587 * ground.green() + 0.114 * ground.blue();
  return light > 140 ? QColor(Qt::black) : QColor(Qt::white);
}

void mix_columns(const std::vector<float>& shares, bool faint, QRgb* colors, int columns) {
  std::array<Channels, kSpanKindCount> inks;
  for (int kind = 0; kind < kSpanKindCount; ++kind) {
    const auto each = static_cast<SpanKind>(kind);
    inks[static_cast<std::size_t>(kind)] = channels_of(faint ? faint_color_of(each) : color_of(each));
  }
  const Channels ground = channels_of(theme().raised);
  for (int column = 0; column < columns; ++column) {
    const float* share = shares.data() + static_cast<std::size_t>(column) * kSpanKindCount;
    float total = 0;
    Channels sum;
    const auto add = [&](std::size_t kind, float covered) {
      total += covered;
      sum.red += inks[kind].red * covered;
      sum.green += inks[kind].green * covered;
      sum.blue += inks[kind].blue * covered;
    };
    for (std::size_t kind = 0; kind < kHost; ++kind) {
      if (share[kind] > 0) add(kind, share[kind]);
    }
    // Host spans hold others: only the time they do not cover counts as host time, as in the step partition.
    if (share[kHost] > 0 && total < 1) add(kHost, std::min(share[kHost], 1 - total));
    if (total <= 0) {
      colors[column] = theme().raised.rgb();
      continue;
    }
    const float seen = std::clamp(total, kLeastSeen, 1.0F);
    const auto channel = [&](float ink, float back) {
      return static_cast<int>(ink / total * seen + back * (1 - seen));
    };
    colors[column] =
        qRgb(channel(sum.red, ground.red), channel(sum.green, ground.green), channel(sum.blue, ground.blue));
  }
}

void stack_columns(const std::vector<float>& shares, bool faint, QImage& picture) {
  std::array<QRgb, kSpanKindCount> inks;
  for (int kind = 0; kind < kSpanKindCount; ++kind) {
    const auto each = static_cast<SpanKind>(kind);
    inks[static_cast<std::size_t>(kind)] = (faint ? faint_color_of(each) : color_of(each)).rgb();
  }
  picture.fill(theme().raised);
  const int height = picture.height();
  const qsizetype stride = picture.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
  auto* const bottom = reinterpret_cast<QRgb*>(picture.bits()) + (height - 1) * stride;
  for (int column = 0; column < picture.width(); ++column) {
    const float* share = shares.data() + static_cast<std::size_t>(column) * kSpanKindCount;
    float sum = 0;
    int level = 0;
    for (std::size_t kind = 0; kind < kSpanKindCount; ++kind) {
      sum += share[kind];
      const int above = static_cast<int>(std::min(sum, 1.0F) * static_cast<float>(height) + 0.5F);
      for (; level < above; ++level) bottom[column - level * stride] = inks[kind];
    }
  }
}

}  // namespace ddbench::gui
