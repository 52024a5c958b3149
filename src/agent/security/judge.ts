// The risk of a shell script, from what it does when it runs: it is parsed as the interpreter parses it, and every command
// in it is judged, through whatever runs it.

import { loadShellParser } from '../../kits/shell/index.ts'
import { ScriptJudge } from './script-judge.ts'
import type { JudgeContext, Verdict } from './verdict.ts'

export type JudgeScript = (script: string, context?: JudgeContext) => Verdict

/** Loads the parser, which is large; judging is then synchronous. */
export async function loadScriptJudge(): Promise<JudgeScript> {
  const parse = await loadShellParser()
  return (script, context = {}) => new ScriptJudge(parse, context).judge(script)
}
