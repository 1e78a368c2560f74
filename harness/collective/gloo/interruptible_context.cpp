#include "harness/collective/gloo/interruptible_context.h"

#include <gloo/common/error.h>

#include <utility>

namespace ddbench::collective::gloo_backend {

class InterruptibleBuffer final : public ::gloo::transport::UnboundBuffer {
 public:
  InterruptibleBuffer(std::unique_ptr<::gloo::transport::UnboundBuffer> inner, Interrupt& interrupt)
      : ::gloo::transport::UnboundBuffer(inner->ptr, inner->size),
        inner_(std::move(inner)),
        interrupt_(interrupt) {
    interrupt_.enter(*this);
  }
  ~InterruptibleBuffer() override { interrupt_.leave(*this); }

  bool waitRecv(int* rank, std::chrono::milliseconds timeout) override {
    interrupt_.throw_if_raised();
    return inner_->waitRecv(rank, timeout) || interrupted();
  }
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override {
    interrupt_.throw_if_raised();
    return inner_->waitSend(rank, timeout) || interrupted();
  }
  void abortWaitRecv() override { inner_->abortWaitRecv(); }
  void abortWaitSend() override { inner_->abortWaitSend(); }

  void send(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->send(rank, slot, offset, bytes);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->recv(rank, slot, offset, bytes);
  }
  void recv(std::vector<int> ranks, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->recv(std::move(ranks), slot, offset, bytes);
  }

 private:
  bool interrupted() const {
    interrupt_.throw_if_raised();
    return false;
  }

  std::unique_ptr<::gloo::transport::UnboundBuffer> inner_;
  Interrupt& interrupt_;
};

void Interrupt::raise(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (raised_) return;
  raised_ = true;
  reason_ = reason;
  // The abort of a wait that has not begun is kept by the buffer: no wait can slip through.
  for (InterruptibleBuffer* const buffer : buffers_) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

std::string Interrupt::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

void Interrupt::throw_if_raised() const {
  const std::lock_guard lock(mutex_);
  if (raised_) throw ::gloo::IoException(reason_);
}

void Interrupt::enter(InterruptibleBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.insert(&buffer);
}

void Interrupt::leave(InterruptibleBuffer& buffer) noexcept {
  const std::lock_guard lock(mutex_);
  buffers_.erase(&buffer);
}

InterruptibleContext::InterruptibleContext(std::shared_ptr<::gloo::transport::Context> inner,
                                           Interrupt& interrupt)
    : ::gloo::transport::Context(inner->rank, inner->size), inner_(std::move(inner)), interrupt_(interrupt) {
  setTimeout(inner_->getTimeout());
}

std::unique_ptr<::gloo::transport::UnboundBuffer> InterruptibleContext::createUnboundBuffer(void* memory,
                                                                                            size_t bytes) {
  return std::make_unique<InterruptibleBuffer>(inner_->createUnboundBuffer(memory, bytes), interrupt_);
}

}  // namespace ddbench::collective::gloo_backend
