# Paired statistics. Input: one pair a line, "ours theirs". Output: shell assignments
#   count median lower upper least most ours theirs
# of the pair's value: theirs/ours (mode=capacity: processor cost each, so this is our capacity over theirs),
# ours/theirs (mode=cost) or ours-theirs (mode=added). `ours` and `theirs` are plain medians.
#
# `lower` and `upper` are one-sided 95 % confidence bounds of the median by the sign test: of the sorted
# pairs, the k-th from the end, with k the largest number for which a fair coin shows fewer than k heads in
# n throws at most 5 % of the time (n = 11: the third, at 96.7 %; n = 21: the seventh, at 96.1 %). It assumes
# nothing about the noise but that pairs are independent; the median of ratios is the exponential of the
# median of log-ratios, so taking logarithms changes nothing. Below five pairs there is no bound: the
# extremes stand in for it.

{ ours[NR] = $1; theirs[NR] = $2
  value[NR] = mode == "capacity" ? $2 / $1 : mode == "cost" ? $1 / $2 : $1 - $2 }

function sort(list, n,    i, j, x) {
  for (i = 2; i <= n; i++) {
    x = list[i]
    for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]
    list[j + 1] = x
  }
}
function median(list, n) { return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2 }

# The k of above.
function rank_of_bound(n,    k, below, term, i) {
  term = 1
  for (i = 0; i < n; i++) term /= 2
  for (k = 0; k <= n; k++) {
    below += term
    if (below > 0.05) return k > 0 ? k : 1
    term *= (n - k) / (k + 1)
  }
}

END {
  if (NR == 0) exit 1
  sort(value, NR); sort(ours, NR); sort(theirs, NR)
  k = rank_of_bound(NR)
  printf "count=%d median=%.4f lower=%.4f upper=%.4f least=%.4f most=%.4f ours=%.3f theirs=%.3f\n",
    NR, median(value, NR), value[k], value[NR + 1 - k], value[1], value[NR], median(ours, NR), median(theirs, NR)
}
