// The pinyin of a listing's name. A dictionary reads characters as common words do; company names have their own readings.

const NAMES = {
  重药控股: 'chong yao kong gu',
  中国一重: 'zhong guo yi zhong',
  会稽山: 'kuai ji shan',
  大参林: 'da shen lin',
  朝阳科技: 'zhao yang ke ji',
  飞乐音响: 'fei yue yin xiang',
  上海银行: 'shang hai yin hang',
}

// The reading of these characters in company names.
const CHARACTERS = { 厦: 'xia', 都: 'du' }
const EXCEPT = { 厦: /大厦/ }

/** A function from a name to its syllables; empty for names without Chinese characters. */
export function pinyinSpeller(pinyin) {
  return (name) => {
    if (!/[\u3400-\u9fff]/.test(name)) return ''
    if (NAMES[name]) return NAMES[name]
    // The dictionary joins non-Chinese characters, so each character is looked up in its context.
    const syllables = pinyin(name, { toneType: 'none', type: 'array', v: true })
    const characters = [...name]
    if (syllables.length !== characters.length) throw new Error(`${name}: ${syllables.join(' ')}`)
    return joined(characters.map((character, i) => reading(name, character, syllables[i])))
  }
}

function reading(name, character, syllable) {
  if (!/[\u3400-\u9fff]/.test(character)) return /[A-Za-z0-9]/.test(character) ? character.toLowerCase() : ' '
  const fixed = EXCEPT[character]?.test(name) ? undefined : CHARACTERS[character]
  return ` ${fixed ?? syllable} `
}

/** Letters and digits that follow each other are one syllable. */
function joined(parts) {
  return parts.join('').replace(/\s+/g, ' ').trim()
}
