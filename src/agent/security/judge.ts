// The risk of a shell script, from what it does when it runs: it is parsed as the interpreter parses it, and every command
// in it is judged, through whatever runs it.

import { loadShellParser } from '../../workspace/shell-parser.ts'
import { ScriptJudge } from './script-judge.ts'

/** `secretNames` are the variables of the shell that hold secrets. */
export type JudgeScript = (script: string, secretNames?: readonly string[]) => number

/** Loads the parser, which is large; judging is then synchronous. */
export async function loadScriptJudge(): Promise<JudgeScript> {
  const parse = await loadShellParser()
  return (script, secretNames = []) => new ScriptJudge(parse, secretNames).judge(script)
}
