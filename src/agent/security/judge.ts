// The risk of a shell script, from what it does when it runs: it is parsed as the interpreter parses it, and every command
// in it is judged, through whatever runs it.

import { loadShellParser } from '../../workspace/shell-parser.ts'
import { ScriptJudge } from './script-judge.ts'
import type { Surroundings, Verdict } from './verdict.ts'

export type JudgeScript = (script: string, around?: Surroundings) => Verdict

/** Loads the parser, which is large; judging is then synchronous. */
export async function loadScriptJudge(): Promise<JudgeScript> {
  const parse = await loadShellParser()
  return (script, around = {}) => new ScriptJudge(parse, around).judge(script)
}
