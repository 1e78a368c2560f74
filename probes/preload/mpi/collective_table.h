#pragma once

/// The collectives of MPI: X(L, name, its name in lower case, parameters, arguments, description), in the
/// types of a language (arguments.h). A description is a call of collectives.h with the parameters.
#define DDBENCH_LIST(...) __VA_ARGS__

#define DDBENCH_MPI_BARRIER(X, L) \
  X(L, Barrier, barrier, (L::Communicator communicator), (communicator), barrier(communicator))

// clang-format off
#define DDBENCH_MPI_COLLECTIVES(X, L) \
  X(L, Allreduce, allreduce, \
    (const void* send, void* receive, L::Count count, L::Type type, L::Operation operation, L::Communicator communicator), \
    (send, receive, count, type, operation, communicator), all_reduce(count, type, communicator)) \
  X(L, Reduce, reduce, \
    (const void* send, void* receive, L::Count count, L::Type type, L::Operation operation, L::Root root, L::Communicator communicator), \
    (send, receive, count, type, operation, root, communicator), reduce(count, type, communicator)) \
  X(L, Bcast, bcast, \
    (void* buffer, L::Count count, L::Type type, L::Root root, L::Communicator communicator), \
    (buffer, count, type, root, communicator), broadcast(count, type, communicator)) \
  X(L, Allgather, allgather, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, communicator), all_gather(count, type, communicator)) \
  X(L, Allgatherv, allgatherv, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::CountList counts, const void* places, L::Type type, \
     L::Communicator communicator), \
    (send, send_count, send_type, receive, counts, places, type, communicator), all_gather_v(counts, type, communicator)) \
  X(L, Reduce_scatter_block, reduce_scatter_block, \
    (const void* send, void* receive, L::Count count, L::Type type, L::Operation operation, L::Communicator communicator), \
    (send, receive, count, type, operation, communicator), reduce_scatter(count, type, communicator)) \
  X(L, Reduce_scatter, reduce_scatter, \
    (const void* send, void* receive, L::CountList counts, L::Type type, L::Operation operation, L::Communicator communicator), \
    (send, receive, counts, type, operation, communicator), reduce_scatter_v(counts, type, communicator)) \
  X(L, Gather, gather, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Root root, \
     L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, root, communicator), \
    gather({send_count, send_type}, {count, type}, root, communicator)) \
  X(L, Gatherv, gatherv, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::CountList counts, const void* places, L::Type type, \
     L::Root root, L::Communicator communicator), \
    (send, send_count, send_type, receive, counts, places, type, root, communicator), \
    gather_v({send_count, send_type}, {counts, type}, root, communicator)) \
  X(L, Scatter, scatter, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Root root, \
     L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, root, communicator), \
    scatter({count, type}, {send_count, send_type}, root, communicator)) \
  X(L, Scatterv, scatterv, \
    (const void* send, L::CountList counts, const void* places, L::Type send_type, void* receive, L::Count count, L::Type type, \
     L::Root root, L::Communicator communicator), \
    (send, counts, places, send_type, receive, count, type, root, communicator), \
    scatter_v({count, type}, {counts, send_type}, root, communicator)) \
  X(L, Alltoall, alltoall, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, communicator), all_to_all(count, type, communicator)) \
  X(L, Alltoallv, alltoallv, \
    (const void* send, L::CountList send_counts, const void* send_places, L::Type send_type, void* receive, L::CountList counts, \
     const void* places, L::Type type, L::Communicator communicator), \
    (send, send_counts, send_places, send_type, receive, counts, places, type, communicator), \
    all_to_all_v(counts, type, communicator)) \
  X(L, Alltoallw, alltoallw, \
    (const void* send, L::CountList send_counts, const void* send_places, L::TypeList send_types, void* receive, L::CountList counts, \
     const void* places, L::TypeList types, L::Communicator communicator), \
    (send, send_counts, send_places, send_types, receive, counts, places, types, communicator), \
    all_to_all_w(counts, types, communicator)) \
  X(L, Scan, scan, \
    (const void* send, void* receive, L::Count count, L::Type type, L::Operation operation, L::Communicator communicator), \
    (send, receive, count, type, operation, communicator), scan(count, type, communicator)) \
  X(L, Exscan, exscan, \
    (const void* send, void* receive, L::Count count, L::Type type, L::Operation operation, L::Communicator communicator), \
    (send, receive, count, type, operation, communicator), scan(count, type, communicator)) \
  X(L, Neighbor_allgather, neighbor_allgather, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, communicator), neighbor_all_gather(count, type, communicator)) \
  X(L, Neighbor_allgatherv, neighbor_allgatherv, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::CountList counts, const void* places, L::Type type, \
     L::Communicator communicator), \
    (send, send_count, send_type, receive, counts, places, type, communicator), neighbor_all_gather_v(counts, type, communicator)) \
  X(L, Neighbor_alltoall, neighbor_alltoall, \
    (const void* send, L::Count send_count, L::Type send_type, void* receive, L::Count count, L::Type type, L::Communicator communicator), \
    (send, send_count, send_type, receive, count, type, communicator), neighbor_all_to_all(count, type, communicator)) \
  X(L, Neighbor_alltoallv, neighbor_alltoallv, \
    (const void* send, L::CountList send_counts, const void* send_places, L::Type send_type, void* receive, L::CountList counts, \
     const void* places, L::Type type, L::Communicator communicator), \
    (send, send_counts, send_places, send_type, receive, counts, places, type, communicator), \
    neighbor_all_to_all_v(counts, type, communicator)) \
  X(L, Neighbor_alltoallw, neighbor_alltoallw, \
    (const void* send, L::CountList send_counts, const void* send_places, L::TypeList send_types, void* receive, L::CountList counts, \
     const void* places, L::TypeList types, L::Communicator communicator), \
    (send, send_counts, send_places, send_types, receive, counts, places, types, communicator), \
    neighbor_all_to_all_w(counts, types, communicator))
// clang-format on
