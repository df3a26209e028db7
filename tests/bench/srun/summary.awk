# SPDX-License-Identifier: BSD-3-Clause
# Lines "CELL MS-WITHOUT MS-WITH" to a table, and to JSON where `json` names a file. Medians of pairs, with the order
# statistics that hold them in 95 of 100 runs: a pair that another process disturbed weighs no more than any other.
function sorted(values, n, i, j, v) {
  for (i = 2; i <= n; i++) {
    v = values[i]
    for (j = i - 1; j >= 1 && values[j] > v; j--) values[j + 1] = values[j]
    values[j + 1] = v
  }
}
function clamp(i, n) { return i < 1 ? 1 : i > n ? n : i }
{ count[$1]++; without[$1, count[$1]] = $2; with_it[$1, count[$1]] = $3 }
END {
  cells = split("control idle observe job-idle job-observe job-order", names, " ")
  printf "%-11s %5s %9s %9s %9s %18s\n", "cell", "pairs", "without", "with", "added", "95 % interval"
  for (c = 1; c <= cells; c++) {
    n = count[names[c]]
    if (n == 0) continue
    sum = squares = 0
    for (i = 1; i <= n; i++) {
      a[i] = without[names[c], i]; b[i] = with_it[names[c], i]; d[i] = b[i] - a[i]
      sum += b[i]; squares += b[i] * b[i]
    }
    sorted(a, n); sorted(b, n); sorted(d, n)
    m = int((n + 1) / 2); half = int(0.98 * sqrt(n)) + 1
    low = d[clamp(m - half, n)]; high = d[clamp(m + half, n)]
    mean = sum / n; spread = squares / n - mean * mean
    printf "%-11s %5d %6.1f ms %6.1f ms %6.1f ms  [%6.1f, %6.1f] ms\n", names[c], n, a[m], b[m], d[m], low, high
    list = list (list == "" ? "" : ", ") sprintf("{\"cell\": \"srun-true\", \"arm\": \"%s\", \"pairs\": %d, \"mean_ms\": %.2f, \"cv\": %.3f, \"p50_ms\": %.1f, \"p99_ms\": %.1f, \"change_percent\": %.1f, \"change_ci95\": [%.1f, %.1f], \"added_ms\": %.1f}", \
      names[c], n, mean, sqrt(spread > 0 ? spread : 0) / mean, b[m], b[clamp(int(n * .99) + 1, n)], 100 * d[m] / a[m], 100 * low / a[m], 100 * high / a[m], d[m])
  }
  if (json != "") printf "{\"machine\": \"%s\", \"cells\": [%s]}\n", machine, list > json
}
