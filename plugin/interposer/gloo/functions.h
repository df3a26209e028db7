// SPDX-License-Identifier: BSD-3-Clause
// The one list of what is wrapped of Gloo's collectives; wrappers.cpp turns each line into a function of that mangled
// name. All are void f(Options&). Gloo's older collectives, objects with a run(), are not seen.
//
//   COLLECTIVE(name, symbol, Options)  name: the operation's in the report; Options: in layout.h
#pragma once

#define PACED_GLOO_COLLECTIVES(COLLECTIVE)                                                 \
    COLLECTIVE(allreduce, _ZN4gloo9allreduceERKNS_16AllreduceOptionsE, AllreduceOptions)   \
    COLLECTIVE(reduce, _ZN4gloo6reduceERNS_13ReduceOptionsE, ElementsOptions)              \
    COLLECTIVE(bcast, _ZN4gloo9broadcastERNS_16BroadcastOptionsE, ElementsOptions)         \
    COLLECTIVE(barrier, _ZN4gloo7barrierERNS_14BarrierOptionsE, BarrierOptions)            \
    COLLECTIVE(allgather, _ZN4gloo9allgatherERNS_16AllgatherOptionsE, ShareOptions)        \
    COLLECTIVE(allgatherv, _ZN4gloo10allgathervERNS_17AllgathervOptionsE, AllgathervOptions) \
    COLLECTIVE(gather, _ZN4gloo6gatherERNS_13GatherOptionsE, ShareOptions)                 \
    COLLECTIVE(scatter, _ZN4gloo7scatterERNS_14ScatterOptionsE, ScatterOptions)            \
    COLLECTIVE(alltoall, _ZN4gloo8alltoallERNS_15AlltoallOptionsE, AlltoallOptions)        \
    COLLECTIVE(alltoallv, _ZN4gloo9alltoallvERNS_16AlltoallvOptionsE, AlltoallvOptions)

// Stores through which contexts find one another (contexts.cpp): set and get. PyTorch's is always a PrefixStore.
#define PACED_GLOO_STORES(STORE)      \
    STORE(_ZN4gloo10rendezvous11PrefixStore) \
    STORE(_ZN4gloo10rendezvous9FileStore)
