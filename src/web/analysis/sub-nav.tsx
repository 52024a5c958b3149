import { Link } from '../router.tsx'
import { say, type Text } from '../texts.ts'

export type AnalysisPart =
  | 'tasks'
  | 'history'
  | 'talks'
  | 'watchlists'
  | 'portfolio'
  | 'signals'
  | 'alerts'
  | 'accuracy'
  | 'evidence'

const PARTS: readonly [part: AnalysisPart, name: Text][] = [
  ['tasks', 'Tasks'],
  ['history', 'History'],
  ['talks', 'Talks'],
  ['watchlists', 'Watchlists'],
  ['portfolio', 'Portfolio'],
  ['signals', 'Signals'],
  ['alerts', 'Alerts'],
  ['accuracy', 'Accuracy'],
  ['evidence', 'Evidence'],
]

export const SubNav = ({ current }: { current: AnalysisPart }) => (
  <nav class="sub-nav" aria-label={say('Analysis')}>
    {PARTS.map(([part, name]) => (
      <Link key={part} to={part === 'tasks' ? '/analysis' : `/analysis/${part}`} current={part === current}>
        {say(name)}
      </Link>
    ))}
  </nav>
)
