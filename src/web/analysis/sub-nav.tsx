import { Link } from '../router.tsx'
import { say, type Text } from '../texts.ts'

export type AnalysisPart =
  | 'tasks'
  | 'history'
  | 'talks'
  | 'watchlists'
  | 'portfolio'
  | 'calendar'
  | 'signals'
  | 'alerts'
  | 'screening'
  | 'accuracy'
  | 'evidence'

const PARTS: readonly [part: AnalysisPart, name: Text][] = [
  ['tasks', 'Tasks'],
  ['history', 'History'],
  ['talks', 'Talks'],
  ['watchlists', 'Watchlists'],
  ['portfolio', 'Portfolio'],
  ['calendar', 'Calendar'],
  ['signals', 'Signals'],
  ['alerts', 'Alerts'],
  ['screening', 'Screening'],
  ['accuracy', 'Accuracy'],
  ['evidence', 'Evidence'],
]

/** If there is not enough room, they scroll, and the current one must be visible. */
function showCurrent(nav: HTMLElement | null): void {
  const link = nav?.querySelector<HTMLElement>('[aria-current]')
  if (nav && link) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.clientWidth) / 2
}

export const SubNav = ({ current }: { current: AnalysisPart }) => (
  <nav class="sub-nav" aria-label={say('Analysis')} ref={showCurrent}>
    {PARTS.map(([part, name]) => (
      <Link key={part} to={part === 'tasks' ? '/analysis' : `/analysis/${part}`} current={part === current}>
        {say(name)}
      </Link>
    ))}
  </nav>
)
