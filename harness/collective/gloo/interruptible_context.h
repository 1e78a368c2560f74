#pragma once

#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace ddbench::collective::gloo_backend {

class InterruptibleBuffer;

/// What can end the waiting of every buffer of one communicator. Thread-safe.
class Interrupt {
 public:
  /// Ends all waits, present and future, with `reason`; the first reason stays.
  void raise(const std::string& reason) noexcept;
  /// Why waits end; empty while they do not.
  std::string reason() const;
  void throw_if_raised() const;  ///< gloo::IoException

 private:
  friend class InterruptibleBuffer;
  void enter(InterruptibleBuffer& buffer);
  void leave(InterruptibleBuffer& buffer) noexcept;

  mutable std::mutex mutex_;
  std::string reason_;
  bool raised_ = false;
  std::set<InterruptibleBuffer*> buffers_;
};

/// A transport context that hands out buffers whose waits an Interrupt ends, and is otherwise the context
/// that it wraps. Gloo itself ends a wait when a connection breaks only if the transfer had not begun (its
/// Pair::signalException passes over the operation that is being read or written), and offers no way to end
/// all waits from another thread.
class InterruptibleContext final : public ::gloo::transport::Context {
 public:
  InterruptibleContext(std::shared_ptr<::gloo::transport::Context> inner, Interrupt& interrupt);

  std::unique_ptr<::gloo::transport::Pair>& getPair(int peer) override { return inner_->getPair(peer); }
  std::unique_ptr<::gloo::transport::Pair>& createPair(int peer) override { return inner_->createPair(peer); }
  std::unique_ptr<::gloo::transport::UnboundBuffer> createUnboundBuffer(void* memory, size_t bytes) override;

 private:
  std::shared_ptr<::gloo::transport::Context> inner_;
  Interrupt& interrupt_;
};

}  // namespace ddbench::collective::gloo_backend
