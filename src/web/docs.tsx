// The API reference: a separate page, so that the console does not load its code.

import './base.css'
import './reference/reference.css'
import { render } from 'preact'
import { keepFromDropped } from './frame/dropped.ts'
import { keepFocus } from './frame/focus.ts'
import { ReferencePage } from './reference/reference-page.tsx'
import { loadTexts } from './texts.ts'
import { Boundary } from './ui.tsx'

const root = document.getElementById('app')
if (!root) throw new Error('missing: the element that the page is drawn in')
await loadTexts()
keepFromDropped()
keepFocus()
render(
  <Boundary>
    <ReferencePage />
  </Boundary>,
  root,
)
