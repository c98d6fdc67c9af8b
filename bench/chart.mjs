import { isMet, number } from './figures.mjs';

const ROW = 26;
const LEFT = 250;
const WIDTH = 760;
const PLOT = WIDTH - LEFT - 70;
const TOP = 52;

/**
 * The figures as bars on a scale of halves and doubles, better to the right. Its colours follow the reader's setting, and
 * hold on white and on black where a viewer does not pass that on.
 */
export function chart(figures) {
  const bars = figures.map((figure) => ({ ...figure, ...towardsBetter(figure) }));
  const values = bars.flatMap(({ value, aim, ends }) => [value, aim, ...ends, 1]);
  const from = Math.floor(Math.log2(Math.min(...values)) - 0.1);
  const to = Math.ceil(Math.log2(Math.max(...values)) + 0.1);
  const x = (value) => Math.round((LEFT + ((Math.log2(value) - from) / (to - from)) * PLOT) * 10) / 10;
  const height = TOP + bars.length * ROW + 16;
  const bottom = height - 12;
  const lines = [];
  for (let power = from; power <= to; power++) {
    const at = x(2 ** power);
    lines.push(
      `<line class="${power ? 'grid' : 'even'}" x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${bottom}"/>`,
      `<text class="faint" x="${at}" y="${TOP - 14}" text-anchor="middle">${number(2 ** power)} ×</text>`,
    );
  }
  bars.forEach((bar, i) => {
    const y = TOP + i * ROW + ROW / 2;
    const [start, end] = [x(1), x(bar.value)].toSorted((a, b) => a - b);
    const kind = isMet(bar) ? 'met' : 'missed';
    lines.push(
      `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${bar.id}</text>`,
      `<rect class="${kind}" x="${start}" y="${y - 7}" width="${Math.max(end - start, 1).toFixed(1)}" height="14" rx="2"/>`,
      `<line class="spread" x1="${x(bar.ends[0])}" x2="${x(bar.ends[1])}" y1="${y}" y2="${y}"/>`,
      `<path class="goal" d="M${x(bar.aim)} ${y - 10}v20"/>`,
      `<text class="${kind}" x="${Math.max(end, x(bar.aim), x(bar.ends[1])) + 8}" y="${y + 4}">${number(bar.ratio)}</text>`,
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>Each figure that has a goal, against its rival</title>
<style>
text { fill: #6e7781 } .faint { fill: #7d8590 } .grid { stroke: #8b949e55 } .even { stroke: #8b949e; stroke-width: 1.5 }
rect.met { fill: #2da44e } text.met { fill: #1a7f37 } rect.missed { fill: #d4a72c } text.missed { fill: #9a6700 }
.spread { stroke: #6e7781; stroke-width: 2 } .goal { stroke: #0969da; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #c9d1d9 } .faint { fill: #8b949e } text.met { fill: #56d364 } text.missed { fill: #e3b341 }
  .spread { stroke: #c9d1d9 } .goal { stroke: #58a6ff }
}
</style>
<text class="faint" x="${LEFT - 12}" y="16" text-anchor="end">better →</text>
<path class="goal" d="M${LEFT + 8} 5v14"/><text class="faint" x="${LEFT + 16}" y="16">the goal</text>
<path class="spread" d="M${LEFT + 84} 12h24"/><text class="faint" x="${LEFT + 114}" y="16">half of the rounds</text>
<text class="faint" x="${LEFT + 240}" y="16">the number: ours ÷ theirs</text>
${lines.join('\n')}
</svg>
`;
}

/** How many times better than the rival, whichever way the figure runs. */
function towardsBetter({ ratio, goal, low = ratio, high = ratio, better }) {
  const turned = better === 'lower' ? (value) => 1 / value : (value) => value;
  return { value: turned(ratio), aim: turned(goal), ends: [turned(low), turned(high)].toSorted((a, b) => a - b) };
}
