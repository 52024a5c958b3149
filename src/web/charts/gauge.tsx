type Props = { score: number; label: string | null }

const ARC = 'M 12 66 A 54 54 0 0 1 120 66'
/** The bands that the score's own wording uses. */
const BANDS = ['very-low', 'low', 'middle', 'high', 'very-high']

export function Gauge({ score, label }: Props) {
  const bounded = Math.max(0, Math.min(100, score))
  const band = BANDS[Math.min(Math.floor(bounded / 20), 4)] ?? ''
  const words = label === null ? `Score ${score} of 100` : `Score ${score} of 100: ${label}`
  return (
    <figure class="gauge">
      <svg viewBox="0 0 132 76" role="img" aria-label={words}>
        <path class="gauge-track" d={ARC} />
        <path class={`gauge-value ${band}`} d={ARC} pathLength={100} stroke-dasharray={`${bounded} 200`} />
        <text class="gauge-score" x="66" y="62" text-anchor="middle">
          {score}
        </text>
      </svg>
      {label !== null && <figcaption>{label}</figcaption>}
    </figure>
  )
}
