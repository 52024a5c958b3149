// Words of direction in what is said of a market, and which way they point.

const RISE =
  /涨|升|走高|收高|收红|反弹|走强|上扬|冲高|\b(?:up|rose|ris(?:e|es|en|ing)|gain\w*|climb\w*|advanc\w*|added|adding|higher|jump\w*|surg\w*|rall\w*|rebound\w*|recover\w*|eked|firmed|soar\w*)\b|상승|올랐|오른|올라|오르|오름|뛰|뛴|반등|급등|강세/gi
const FALL =
  /跌|走低|收低|收绿|回落|下挫|走弱|下滑|下行|降|\b(?:down|fell|fall\w*|los[te]s?|losing|loss|declin\w*|drop\w*|slid\w*|lower|sank|retreat\w*|shed\w*|slip\w*|eased?|dip\w*|tumbl\w*|slump\w*|plung\w*|weaken\w*)\b|하락|내렸|내린|내려|내리|떨어|밀렸|밀려|밀리|밀린|빠졌|빠진|낙폭|급락|약세/gi

const bare = (text: string) =>
  text.replace(/涨跌(?:不一|互现)?|[涨跌]停|limit[- ](?:up|down)|(?:upper|lower) (?:limit|one)/gi, (word) =>
    ' '.repeat(word.length),
  )

/** 1 or -1 for the last word of a direction, 0 where there is none. */
export function directionIn(text: string): 1 | -1 | 0 {
  const last = (pattern: RegExp) => [...bare(text).matchAll(pattern)].at(-1)?.index ?? -1
  const [up, down] = [last(RISE), last(FALL)]
  return up === down ? 0 : up > down ? 1 : -1
}

/** The direction of all words of a text, 0 where they differ: "A 0.3 %, B 0.9 % lower" has one verb for both. */
export function onlyDirectionIn(text: string): 1 | -1 | 0 {
  const [up, down] = [RISE, FALL].map((pattern) => bare(text).match(pattern) !== null)
  return up === down ? 0 : up ? 1 : -1
}

export const withoutDirections = (text: string): string => text.replace(RISE, '').replace(FALL, '')
