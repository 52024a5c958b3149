import './base.css'
import './conversation/conversation.css'
import './conversation/cards.css'
import './conversation/timeline.css'
import './analysis/analysis.css'
import './analysis/report-parts.css'
import './analysis/report-runs.css'
import './charts/charts.css'
import './frame/frame.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { watchReturns } from './frame/attention.ts'
import { keepFromDropped } from './frame/dropped.ts'
import { keepFocus } from './frame/focus.ts'
import { keepScroll } from './frame/scroll.ts'
import { keepUnsaved } from './frame/unsaved.ts'
import { loadTexts } from './texts.ts'

const root = document.getElementById('app')
if (!root) throw new Error('missing: the element that the console is drawn in')
await loadTexts()
type ScriptPolicy = { createScriptURL: (asked: string) => unknown }
type Types = { trustedTypes?: { createPolicy: (name: string, policy: ScriptPolicy) => ScriptPolicy } }
/** Not every browser has them, nor do TypeScript's DOM types. */
const TYPES: Types = window as Types

watchReturns()
keepFromDropped()
keepFocus()
keepUnsaved()
keepScroll()
render(<App />, root)
keepOfflinePage()

/** Registers a page for times without a connection; browsers without service workers have none. */
function keepOfflinePage(): void {
  if (!('serviceWorker' in navigator)) return
  const file = '/sw.js'
  const policy = TYPES.trustedTypes?.createPolicy('worker', {
    createScriptURL: (asked) => {
      if (asked !== file) throw new TypeError('no other script')
      return asked
    },
  })
  const address = (policy?.createScriptURL(file) ?? file) as string
  // If the browser refuses, it shows its own error page; nothing else depends on it.
  navigator.serviceWorker.register(address).catch(() => undefined)
}
