# SPDX-License-Identifier: BSD-3-Clause
"""The cells: a fabric of contrib/cluster, a job on it, and what is compared there. Plain data.

Compute of the groups: 20 ms, against 44 ms that the uplink needs for the 4 x 128 KiB of an iteration. One run of 150 iterations each
without us, on a machine that other work kept busy (load 4 to 19, rising from left to right), mean ms (CV):

    compute      bbr 60 KB                    reno 16 KB                   reno 60 KB
                 synchronous   independent    synchronous   independent    synchronous   independent
     5 ms         96 (.68)      63 (.94)      116 (.66)      69 (.66)       73 (.37)      59 (.37)
    10 ms         94 (.63)      61 (.73)      115 (.66)      62 (.71)       76 (.26)      63 (.39)
    20 ms        116 (.61)      63 (.58)      128 (.59)      74 (.54)       89 (.33)      62 (.33)
    28 ms        124 (.56)       -            136 (.52)      84 (.52)      100 (.27)      73 (.37)

Every compute has the cliff (CV of .5 or more) in the first two; with more compute the CV tends to fall, since the link is free more of the time.
The design's figures by hand (122 to 126 and 130 ms) are met by the synchronous form at 20 to 28 ms and by independent groups at none. 20 ms
leaves some distance to .5, and lies a third of the iteration outside the link, as in a training. Three runs of reno 16 KB at 20 ms had .59,
.47 and .55: on a busy machine this cell is near its bound, and the table's own off blocks decide.

Work of the polling ranks: 15 ms of CPU time each, 8 of them on 2 cores, 60 ms if nobody polls. With a sigma of .5 the slowest of eight has 27 ms
of work, and a quarter of a core while the other seven poll: 108 ms are expected (reckoned, not measured)."""
from dataclasses import dataclass, field

# The recipe of the paper names no constants: early by more than a threshold, a small fixed delay. The best of these stands for it.
PAPER = ("fixed-delay:500us:300us", "fixed-delay:5ms:1ms", "fixed-delay:10ms:1ms")  # delay, threshold
BARRIER = "barrier"
COMPARED_LIMIT = 12  # of one step: policy/pacing/tuning.h


@dataclass(frozen=True)
class Cell:
    name: str
    what: str
    command: tuple
    candidates: tuple  # static settings, the best of which is an arm
    iteration_ms: float  # about, off: for the first guess of how long a job takes
    congestion: str = "reno"
    buffer: int = 60000
    host_rate: str = "200mbit"  # "": unshaped
    uplink: str = "100mbit"
    step: tuple = ("-N8",)  # of srun
    environment: dict = field(default_factory=dict)
    cliff: bool = False
    whole: int = 0  # iterations of whole runs; 0: none
    straggler: bool = False
    fabric: bool = True  # False: all ranks on one node, so that there is no unshaped twin
    seeded: bool = True  # takes --seed
    extra: bool = False  # not one of the twelve: only measured when it is named

    def fabric_arguments(self):
        shaped = ("--host-rate", self.host_rate, "--uplink", self.uplink) if self.host_rate else ()
        return ("--nodes", "8", "--leaves", "2", *shaped, "--buffer", str(self.buffer), "--congestion", self.congestion)


# One program whose groups wait for one another: what a retransmission time-out costs one group it costs all.
def groups(size):
    return ("bsp", "--mode", "groups", "--groups", "4", "--synchronous", "--bytes", str(size), "--buckets", "1", "--compute", "20", "--jitter", "0.03")


def alltoall():
    return ("bsp", "--mode", "alltoall", "--bytes", "262144", "--buckets", "1", "--compute", "20", "--jitter", "0.03")


# What an admin who knew the fabric would try: one or two at a time, turns of the wire time of one call with a tenth or a third of air.
def admit(size):
    wire_ms = size * 8 * 1.04 / 100e6 * 1e3  # headers included, at 100 Mbit/s
    return ("admit:1", "admit:2", *(f"slots:{air * wire_ms:.2g}ms" for air in (1.1, 1.35)))


RATES = ("rate:6mbit", "rate:12mbit", "rate:25mbit", "rate:50mbit")
ALLTOALL = ("rate:3mbit", "rate:4mbit", "rate:6mbit", "rate:9mbit", "rate:15mbit", "rate:30mbit")

CELLS = (
    Cell("groups-128k-bbr-60k", "4 groups over the uplink, 128 KiB, bbr, 60 KB", groups(131072), admit(131072) + RATES, 110, "bbr", cliff=True, whole=2000),
    Cell("groups-128k-reno-16k", "4 groups over the uplink, 128 KiB, reno, 16 KB", groups(131072), admit(131072) + RATES, 120, buffer=16000, cliff=True, whole=2000),
    Cell("groups-128k-reno-60k", "4 groups over the uplink, 128 KiB, reno, 60 KB", groups(131072), admit(131072) + RATES, 75),
    Cell("groups-128k-reno-1m", "4 groups over the uplink, 128 KiB, reno, 1 MB", groups(131072), admit(131072) + RATES, 75, buffer=1000000),
    Cell("groups-64k-bbr-60k", "4 groups over the uplink, 64 KiB, bbr, 60 KB", groups(65536), admit(65536) + RATES, 60, "bbr"),
    Cell("groups-256k-bbr-60k", "4 groups over the uplink, 256 KiB, bbr, 60 KB", groups(262144), admit(262144) + RATES, 170, "bbr"),
    Cell("alltoall-256k-bbr-60k", "all-to-all, 256 KiB a rank, bbr, 60 KB", alltoall(), ALLTOALL, 120, "bbr"),
    Cell("alltoall-256k-reno-60k", "all-to-all, 256 KiB a rank, reno, 60 KB", alltoall(), ALLTOALL, 90),
    # Open MPI's ring, nodes in the order of the leaves: two steps cross the uplink, no queue overflows
    Cell("ring-256k", "ring all-reduce in fabric order, 256 KiB, reno, 60 KB",
         ("bsp", "--bytes", "262144", "--buckets", "1", "--compute", "10", "--jitter", "0.03"), RATES, 65,
         environment={"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "4"}),
    # what early ranks burn while they poll, late ones need for their work; shared memory, as on any node
    Cell("polling", "8 ranks that poll on one node's cores, no yield, random work, 8 bytes",
         ("bsp", "--bytes", "8", "--buckets", "1", "--compute", "15", "--jitter", "0.5", "--work", "--cpu-time"), ("hold-local",), 110,
         step=("-N1", "-n8"), environment={"OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_btl": "vader,self"}, fabric=False, whole=600),
    Cell("straggler", "rank 5 computes 20 ms longer, always",
         ("bsp", "--bytes", "65536", "--buckets", "1", "--compute", "20", "--jitter", "0.03", "--straggler", "rank=5,ms=20"), ("rate:25mbit",), 65, straggler=True),
    Cell("ddp", "PyTorch DDP over Gloo, 2 groups of 4 over the uplink, 129 KiB of gradients, bbr, 60 KB",
         ("/usr/bin/python3", "contrib/workloads/ddp.py", "--groups", "2", "--hidden", "128", "--layers", "2", "--compute-ms", "20", "--jitter", "0.03"),
         ("admit:1", *admit(131072)[2:]) + RATES, 60, "bbr"),
    # who aligns its ranks makes it slower
    Cell("triad", "memory-bound triad, neighbours, a rare all-reduce; 8 ranks on one node",
         ("bsp", "--mode", "triad", "--array-mib", "4", "--sweeps", "4", "--bytes", "4096", "--reduce-every", "20"), ("hold-local",), 20,
         step=("-N1", "-n8"), fabric=False, seeded=False, extra=True),
    # groups that share nothing but the fabric: one that is held up holds up nobody
    Cell("independent-128k-bbr-60k", "4 independent groups over the uplink, 128 KiB, bbr, 60 KB",
         ("bsp", "--mode", "groups", "--groups", "4", "--bytes", "131072", "--buckets", "1", "--compute", "10", "--jitter", "0.03"), admit(131072) + RATES, 60, "bbr", extra=True),
)


def find(name):
    for cell in CELLS:
        if cell.name == name:
            return cell
    raise SystemExit(f"run: there is no cell '{name}' (valid: {', '.join(c.name for c in CELLS)})")
