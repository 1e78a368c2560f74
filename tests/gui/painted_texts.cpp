#include "painted_texts.h"

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <algorithm>

namespace ddbench::gui {
namespace {

constexpr double kSlack_px = 1.5;  ///< boxes of glyphs are a little larger than their ink

double area_of(const QPolygonF& polygon) {
  double twice = 0;
  for (qsizetype i = 0; i < polygon.size(); ++i) {
    const QPointF a = polygon[i];
    const QPointF b = polygon[(i + 1) % polygon.size()];
    twice += a.x() * b.y() - b.x() * a.y();
  }
  return std::abs(twice) / 2;
}

class TextRecorder : public QPaintEngine {
 public:
  TextRecorder() : QPaintEngine(QPaintEngine::AllFeatures) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  Type type() const override { return User; }
  void updateState(const QPaintEngineState& now) override {
    if (now.state() & DirtyTransform) transform_ = now.transform();
  }
  void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
  void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
  void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
  void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
  void drawPath(const QPainterPath&) override {}
  void drawEllipse(const QRectF&) override {}
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    // Ink rather than the line: ascent and descent have room for accents.
    const QRectF ink = QFontMetricsF(item.font()).tightBoundingRect(item.text()).translated(at);
    const QRectF box(at.x(), ink.top(), item.width(), ink.height());
    PaintedText text{item.text(), transform_.map(QPolygonF(box)), false};
    text.box = text.box.mid(0, 4);
    if (painter()->hasClipping()) {
      const QRectF clip = painter()->clipBoundingRect().adjusted(-kSlack_px, -kSlack_px, kSlack_px, kSlack_px);
      text.clipped = !clip.contains(box);
    }
    texts.push_back(std::move(text));
  }

  std::vector<PaintedText> texts;

 private:
  QTransform transform_;
};

class RecordingDevice : public QPaintDevice {
 public:
  explicit RecordingDevice(QSize size) : size_(size) {}
  QPaintEngine* paintEngine() const override { return &engine; }
  mutable TextRecorder engine;

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth: return size_.width();
      case PdmHeight: return size_.height();
      case PdmWidthMM: return size_.width() * 254 / 960;
      case PdmHeightMM: return size_.height() * 254 / 960;
      case PdmNumColors: return 1 << 24;
      case PdmDepth: return 32;
      case PdmDevicePixelRatio: return 1;
      case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
      default: return 96;
    }
  }

 private:
  QSize size_;
};

QString name_of(const PaintedText& text) {
  const QPointF at = text.box.boundingRect().topLeft();
  return QStringLiteral("'%1' at %2,%3").arg(text.text).arg(at.x(), 0, 'f', 0).arg(at.y(), 0, 'f', 0);
}

}  // namespace

std::vector<PaintedText> painted_texts(QSize size, const std::function<void(QPainter&)>& paint) {
  RecordingDevice device(size);
  QPainter painter(&device);
  paint(painter);
  painter.end();
  return std::move(device.engine.texts);
}

QStringList misplaced(const std::vector<PaintedText>& texts, QSize size) {
  QStringList found;
  const QRectF whole = QRectF(QPointF(), size).adjusted(-kSlack_px, -kSlack_px, kSlack_px, kSlack_px);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const QRectF bounds = texts[i].box.boundingRect();
    if (!whole.contains(bounds)) found << QStringLiteral("beyond the edge: ") + name_of(texts[i]);
    if (texts[i].clipped) found << QStringLiteral("clipped: ") + name_of(texts[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (!bounds.intersects(texts[j].box.boundingRect())) continue;
      const double shared = area_of(texts[i].box.intersected(texts[j].box));
      if (shared > 0.05 * std::min(area_of(texts[i].box), area_of(texts[j].box)))
        found << name_of(texts[i]) + QStringLiteral(" lies on ") + name_of(texts[j]);
    }
  }
  return found;
}

}  // namespace ddbench::gui
