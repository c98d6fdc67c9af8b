/** A figure is `{ id, ratio, better: 'lower' | 'higher', goal?, low?, high?, unit, ours, theirs }`. */

/** Whether the goal is met; undefined where there is none. */
export function isMet({ ratio, goal, better }) {
  if (goal === undefined) return undefined;
  return better === 'lower' ? ratio <= goal : ratio >= goal;
}

export function goalOf({ goal, better }) {
  return goal === undefined ? '' : `${better === 'lower' ? '≤' : '≥'} ${goal}`;
}

/** Three figures that count, and no more. */
export function number(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return String(Number(value.toPrecision(3)));
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * Ours against theirs, round by round: the median of the rounds' own ratios, the range that the middle half of them lies
 * in, and both medians in the figure's own unit.
 */
export function compared(ours, theirs) {
  const ratios = ours.map((value, i) => value / theirs[i]).toSorted((a, b) => a - b);
  return {
    ratio: median(ratios),
    low: ratios[Math.floor(ratios.length / 4)],
    high: ratios[Math.ceil((ratios.length * 3) / 4) - 1],
    ours: median(ours),
    theirs: median(theirs),
  };
}

/** For what is counted once and does not vary. */
export function counted(ours, theirs) {
  return { ratio: ours / theirs, ours, theirs };
}
