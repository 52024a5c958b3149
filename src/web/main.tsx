import './base.css'
import './conversation/conversation.css'
import './conversation/cards.css'
import './conversation/timeline.css'
import './analysis/analysis.css'
import './analysis/report-parts.css'
import './analysis/report-runs.css'
import './charts/charts.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { loadTexts } from './texts.ts'

const root = document.getElementById('app')
if (!root) throw new Error('missing: the element that the console is drawn in')
await loadTexts()
render(<App />, root)
