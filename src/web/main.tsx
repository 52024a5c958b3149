import './styles.css'
import './controls.css'
import './conversation/conversation.css'
import './analysis/analysis.css'
import './analysis/report-parts.css'
import './charts/charts.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (!root) throw new Error('missing: the element that the console is drawn in')
render(<App />, root)
