# SPDX-License-Identifier: Apache-2.0
"""Made-up measurements of memory, TMA, atomics, links, launches, placement and barriers, with series, for the tests."""

from __future__ import annotations

import random
from collections.abc import Iterable

from machine_runs import series
from report_runs import Maker, gpu

from assay.files import Measurement, Metric, Run, Series

SIZES = [2**n for n in range(10, 28)]
FLIGHT = [2048, 8192, 32768, 131072]


class Exact(Maker):
    """A maker whose values are exactly what they are asked to be, with series beside them."""

    def put(self, name: str, units: dict[str, str] | None = None, *more: Series, params=None, **values) -> Measurement:
        m = self.add(name, params=params, **(values or {"latency_cycles": 100.0}))
        for key, value in (values or {"latency_cycles": 100.0}).items():
            metric = m.metrics[key]
            unit = (units or {}).get(key, metric.unit)
            m.metrics[key] = Metric(unit, value, (value, value), metric.better)
        m.series = list(more)
        return m


def curve(name: str, unit: str, axis: str, points: Iterable[float], values: Iterable[float | None]) -> Series:
    return series(name, list(values), unit, **{axis: list(points)})


def memory(make: Exact) -> None:
    for level, cycles in {"shared": 29.0, "l1": 34.0, "l2_near": 280.0, "l2_far": 460.0, "dram": 660.0}.items():
        make.put(f"memory/{level}/latency", latency_cycles=cycles, latency_ns=cycles / 1.83)
    make.put("memory/shared/latency/address", latency_cycles=23.0, latency_ns=23.0 / 1.83)
    make.put("memory/shared/read", bytes_per_clock_per_sm=128.0)
    make.put("memory/l2/read", bandwidth_gb_per_s=9000.0)
    make.put("memory/hbm/read", bandwidth_gb_per_s=4600.0)
    steps = [34.0 if size < 2**18 else 280.0 if size < 2**24 else 660.0 for size in SIZES]
    make.put(
        "memory/latency_curve/ca",
        None,
        curve("latency_cycles", "cycle", "footprint_bytes", SIZES, steps),
        l1_latency_cycles=34.0,
        l1_capacity_bytes=2.0**18,
        l2_near_latency_cycles=280.0,
        l2_near_capacity_bytes=2.0**24,
        dram_latency_cycles=660.0,
    )
    make.put(
        "memory/bandwidth_curve/read/b128",
        None,
        curve("bandwidth_gb_per_s", "GB/s", "footprint_bytes", SIZES, [9e3 / (1 + i) for i in range(len(SIZES))]),
        memory_gb_per_s=500.0,
    )
    make.put(
        "memory/tlb",
        None,
        curve("latency_cycles", "cycle", "footprint_bytes", SIZES, range(200, 218)),
        tlb_reach_bytes=2.0**25,
        tlb_miss_cycles=140.0,
    )
    make.put(
        "memory/loaded_latency/read",
        None,
        curve("latency_cycles", "cycle", "pause_cycles", [200, 100, 0], [660.0, 800.0, 2000.0]),
        curve("bandwidth_gb_per_s", "GB/s", "pause_cycles", [200, 100, 0], [100.0, 3600.0, 4600.0]),
        idle_latency_cycles=660.0,
        latency_cycles_at_80_percent=800.0,
        full_load_latency_cycles=2000.0,
    )
    for pause, rate, watts in ((0, 4600.0, 520.0), (5000, 2300.0, 370.0), (300_000, 100.0, 220.0)):
        make.put(f"memory/hbm/power/read/pause_{pause}", {"power_w": "W"}, bandwidth_gb_per_s=rate, power_w=watts)
    pattern = ["stride_1", "stride_2", "stride_32", "column", "column_padded"]
    make.put(
        "memory/shared_access/ld_b32",
        None,
        curve("cycles_per_access", "cycle", "pattern", pattern, [1, 2, 32, 32, 1]),
        bytes_per_clock_per_sm=128.0,
    )
    values = [None, 15.0, None, None, None, 14.0, 13.0, 12.0]
    make.put(
        "memory/distributed_shared/read",
        None,
        series("bytes_per_clock_per_sm", values, "B/clk/SM", cluster=[2, 4], distance=[0, 1, 2, 3]),
        bytes_per_clock_per_sm_of_2=15.0,
        bytes_per_clock_per_sm_of_4=13.0,
    )
    l2_map(make)


def l2_map(make: Exact, sms: int = 8, lines: int = 6) -> None:
    """SMs of even number are near lines of even number."""
    far = [[480.0 if sm % 2 != line % 2 else 285.0 for line in range(lines)] for sm in range(sms)]
    make.put(
        "memory/l2_map",
        None,
        series(
            "latency_cycles", [v for row in far for v in row], "cycle", sm=list(range(sms)), byte=list(range(lines))
        ),
        curve("near_partition", "", "sm", range(sms), [sm % 2 for sm in range(sms)]),
        partitions=2.0,
        sms_of_partition_0=4.0,
        sms_of_partition_1=4.0,
        sms_mapped_alike_twice=1.0,
        near_atomic_cycles=285.0,
        far_atomic_cycles=480.0,
    )


def atomics(make: Exact) -> None:
    units = {"ops_per_clock_one_address": "op/clk", "ops_per_clock_own_addresses": "op/clk"}
    for name, own in {"add_u32": 400.0, "add_f32": 380.0}.items():
        make.put(
            f"memory/atomics/global/{name}",
            units,
            curve("ops_per_clock", "op/clk", "addresses", [1, 64, 4096], [0.7, 40.0, own]),
            latency_cycles=285.0,
            ops_per_clock_one_address=0.7,
            ops_per_clock_own_addresses=own,
        )
    for way, rate in {"thread_atomics": 80.0, "shuffles": 4000.0}.items():
        make.put(
            f"memory/reduction/{way}",
            params={"array_bytes": 2**24},
            bandwidth_gb_per_s=rate,
            time_us=2**24 / rate / 1e3,
        )


def tma(make: Exact) -> None:
    values = [500.0, 2000.0, 4500.0, 4700.0, 450.0, 1500.0, 4000.0, 4600.0]
    axes = {"mover": ["tensor_2d", "ld_16"], "bytes_in_flight_per_sm": FLIGHT}
    make.put(
        "tma/pipeline/dram",
        None,
        series("bandwidth_gb_per_s", values, "GB/s", **axes),
        params={"level": "dram"},
        bandwidth_gb_per_s=4700.0,
        bytes_in_flight_95_tensor_2d=32768.0,
        best_gb_per_s_tensor_2d=4700.0,
        bytes_in_flight_95_ld_16=65536.0,
        best_gb_per_s_ld_16=4600.0,
        tma_of_plain_loads=1.02,
    ).metrics["bytes_in_flight_95_tensor_2d"].ci95 = (31744.0, 33792.0)
    boxes = {"form": ["bulk", "tensor_2d", "swizzle_128"], "box_bytes": [128, 1024, 8192]}
    make.put(
        "tma/box/dram",
        None,
        series("bandwidth_gb_per_s", [100, 900, 4600, 90, 800, 4600, None, 850, 4600], "GB/s", **boxes),
        bandwidth_gb_per_s=4600.0,
        box_bytes_95_tensor_2d=4096.0,
        best_gb_per_s_tensor_2d=4600.0,
    )
    make.put("tma/bulk_16b/latency", latency_cycles=396.0, latency_ns=200.0)
    make.put("tma/tensor_2d/latency", latency_cycles=547.0, latency_ns=277.0)
    make.put(
        "tma/multicast/l2",
        None,
        series("received_gb_per_s", [5e3, 8e3, 9e3, 15e3], "GB/s", cluster=[1, 2], tile_bytes=[1024, 4096]),
        received_gb_per_s_of_2=15e3,
        sent_gb_per_s_of_2=7.5e3,
    )


def launch(make: Exact) -> None:
    make.put("launch/empty/stream", time_us=2.9, cpu_us=2.9, gpu_gap_us=1.7, latency_us=8.1)
    make.put("launch/empty/graph", time_us=0.7, cpu_us=0.02, gpu_gap_us=0.8, interval_us=0.7, latency_us=5.9)
    make.put("launch/call/stream_sync", time_us=8.2, cpu_us=1.3)
    make.put("launch/call/memset/4", time_us=1.1, cpu_us=0.7)
    make.put("launch/graph/chain", None, curve("latency_us", "us", "nodes", [1, 8, 64], [6.4, 15, 70]), latency_us=6.4)
    for workers, best in {"streams": 320e3, "threads": 820e3}.items():
        make.put(
            f"launch/workers/{workers}/5us",
            {"kernels_per_s": "1/s"},
            curve("kernels_per_s", "1/s", "workers", [1, 4, 16], [150e3, 0.8 * best, best]),
            curve("latency_us", "us", "workers", [1, 4, 16], [13, 16, 40]),
            params={"work_ns": 5000},
            kernels_per_s=best,
            kernels_per_s_alone=150e3,
            workers_at_95_percent=7.6,
        )


def link(make: Exact, gpus: int = 2) -> None:
    for way, rate in {"h2d": 55.5, "d2h": 55.4}.items():
        for kind, share in {"pinned": 1.0, "pageable": 0.2}.items():
            make.put(
                f"link/{way}/sizes/{kind}",
                None,
                curve("time_us", "us", "bytes", SIZES, [2 + s / rate / 1e3 for s in SIZES]),
                curve("bandwidth_gb_per_s", "GB/s", "bytes", SIZES, [share * rate * s / (s + 1e5) for s in SIZES]),
                bandwidth_gb_per_s=share * rate,
                smallest_copy_us=2.0,
                half_bandwidth_bytes=65536.0,
            )
    make.put("link/both_ways/copy_engine", bandwidth_gb_per_s=96.0, h2d_gb_per_s=50.0, d2h_gb_per_s=46.0)
    values = [None if i == j else 390.0 + i for i in range(gpus) for j in range(gpus)]
    make.put(
        "link/peer/write/copy_engine",
        None,
        series("bandwidth_gb_per_s", values, "GB/s", gpu=list(range(gpus)), peer=list(range(gpus))),
        bandwidth_gb_per_s=396.0,
        slowest_pair_gb_per_s=390.0,
    )
    make.put("link/peer/write/copy_engine/both_ways", bandwidth_gb_per_s=770.0)


def placement(make: Exact) -> None:
    make.put(
        "placement/gpc_map",
        None,
        curve("gpc", "", "sm", range(10), [sm % 3 for sm in range(10)]),
        gpcs=3.0,
        sms_in_smallest_gpc=3.0,
        sms_in_largest_gpc=4.0,
    )
    make.put(
        "placement/clusters",
        None,
        curve("clusters_at_once", "", "cluster", [2, 4], [5, 2]),
        curve("sms_idle", "SM", "cluster", [2, 4], [0, 2]),
        sms_idle_of_4=2.0,
    )
    make.put(
        "placement/waves",
        None,
        curve("time_us", "us", "ctas", [1, 132, 264], [1, 1, 2]),
        params={"finding": "one CTA on each SM before any gets a second"},
        time_us=1.0,
    )


def spread(make: Exact, gpcs: int = 8) -> None:
    """Two fit on an SM: as many CTAs as SMs get one each; of more, in clusters of 2, some share before all have one."""
    axes = {"residents": [2], "cluster": [1, 2], "grid": ["sms", "sms_plus_1"]}
    for way, used in {"alone": 8.0, "back_to_back": 8.0, "behind_running": 7.0}.items():
        make.put(
            f"placement/one_each/{way}",
            None,
            series("first_wave_ctas", [8, 9, 8, 8], "", **axes),
            series("sms_used", [8, 8, 8, used], "SM", **axes),
            series("max_ctas_on_one_sm", [1, 2, 1, 1 if used == 8 else 2], "", **axes),
            params={"finding": "8 CTAs on 8 SMs: one each, every time"},
            launches=12.0,
        )
    places = {"cluster": [1, 2], "cta": list(range(16))}
    make.put(
        "placement/order/2",
        None,
        series("sm", [cta % 8 for cta in range(16)] * 2, "", **places),
        series("gpc", [cta // 2 % gpcs for cta in range(16)] * 2, "", **places),
        first_doubled_cta=8.0,
        first_doubled_cta_cluster_2=6.0,
    )
    ways = ["one_cta_each", "persistent"]
    make.put(
        "placement/schedule/uneven",
        None,
        series("efficiency", [0.8, 0.9, 0.7, 0.85], "", method=ways, turns_per_tile=[256, 1024]),
        efficiency_one_cta_each=0.9,
        efficiency_persistent=0.85,
    )


def sync(make: Exact) -> None:
    for threads in (32, 128, 512, 1024):
        make.put(f"sync/syncthreads/{threads}", params={"threads": threads}, latency_cycles=10 + threads / 16)
    for ctas in (2, 4):
        make.put(
            f"sync/cluster/release_acquire/{ctas}",
            None,
            curve("latency_cycles_by_threads", "cycle", "threads", [32, 1024], [180, 190 + ctas]),
            latency_cycles=185.0 + ctas,
        )
    make.put("sync/setmaxnreg/2", params={"warpgroups": 2}, latency_cycles=130.0)
    make.put("sync/setmaxnreg/wait", params={"warpgroups": 2}, latency_cycles=123.0)


def data(seed: int = 1, sms: int = 132) -> Run:
    make = Exact(seed, gpu(sms=sms))
    make.random = random.Random(seed)
    for part in (memory, atomics, tma, launch, link, placement, spread, sync):
        part(make)
    return make.run
