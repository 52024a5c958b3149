// The page of a workspace in a real browser, by the keyboard alone: a real service, a real runner beside it.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import { LentMachine, missingForSandbox } from '../support/lent-machine.ts'
import { browserOr } from './browser.ts'
import { type Look, type Person, personAt } from './person.ts'

const test = missingForSandbox() === null ? plain : plain.skip
let machine: LentMachine

beforeAll(async () => {
  if (missingForSandbox() === null) machine = await LentMachine.start()
})
afterAll(() => machine?.stop())

const REPOSITORY = `git init -q . && git config user.name a && git config user.email a@b && mkdir -p src many &&
printf 'one\\ntwo\\n' > 'src/[id] x.ts' && echo hello > README.md && seq -f 'many/file-%04g.txt' 1 600 | xargs touch &&
git add -A && git commit -qm first && printf 'one\\nTWO\\n' > 'src/[id] x.ts' && echo new > new.txt`

async function opened(skip: (note: string) => never, look: Look) {
  const browser = browserOr(skip)
  const path = await machine.conversation()
  expect((await machine.run(path, REPOSITORY)).extras.metadata?.exit_code).toBe(0)
  const one = await personAt({ browser, origin: machine.service.url, look })
  const at = `${machine.service.url}${path.replace('/api', '')}/workspace`
  return { one, page: one.page, path, at }
}

const stored = async (path: string, file: string) =>
  (await machine.call<{ code: string }>(`${path}/select-file?file=${encodeURIComponent(file)}`)).code
/** To a tab; a key that came while the page was drawn anew may be lost once. */
async function tab(one: Person, name: string) {
  const link = one.page.locator('.ws-tabs').getByRole('link', { name })
  await one.press(link)
  const isThere = await one.page
    .locator('.ws-tabs [aria-current]', { hasText: name })
    .waitFor({ timeout: 10_000 })
    .then(
      () => true,
      () => false,
    )
  if (!isThere) await one.press(link)
}
const screen = (page: Page) => page.locator('.xterm-rows').innerText()

test('journey: a file is found by the keys of a tree, edited and saved where it stands; a change of somebody else is not lost', async ({
  skip,
}) => {
  const { one, page, path, at } = await opened(skip, { language: 'en', theme: 'light', size: 'wide' })
  const socket = page.waitForEvent('websocket')
  await one.open(at.replace('/workspace', ''))
  await (await socket).waitForEvent('framereceived')
  await one.press(one.link('Workspace'))
  const tree = page.getByRole('tree', { name: 'Files' })
  await tree.getByText('README.md').waitFor()
  await one.to(tree)
  for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await tree.getByText('[id] x.ts').waitFor()
  for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
  const text = page.getByRole('textbox', { name: 'Text of src/[id] x.ts' })
  await text.waitFor()
  expect(await text.inputValue()).toBe('one\nTWO\n')
  await one.write(text, 'one\nthree 世界\n')
  await page.keyboard.press('Control+s')
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect(await stored(path, 'src/[id] x.ts')).toBe('one\nthree 世界\n')
  await machine.run(path, "echo theirs > 'src/[id] x.ts'")
  await one.write(text, 'mine\n')
  await one.press(one.button('Save'))
  await one.reads('The file was changed since you opened it. Nothing was saved.')
  await one.looks('a file that somebody else changed')
  expect(await stored(path, 'src/[id] x.ts')).toBe('theirs\n')
  await one.press(one.button('Save mine all the same'))
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await machine.run(path, "cat 'src/[id] x.ts'")).content).toBe('mine')
  // A long folder has few elements.
  await one.to(tree)
  for (const key of ['Home', 'ArrowRight']) await page.keyboard.press(key)
  await tree.getByText('file-0001.txt').waitFor()
  expect(await page.getByRole('treeitem').count()).toBeLessThan(80)
  await page.keyboard.press('End')
  await tree.getByText('new.txt').waitFor()
  expect(one.faults).toEqual([])
})

test('journey: what is written over a file outlives a look at another one, a reload, a save that takes long and the loss of the file', async ({
  skip,
}) => {
  const { one, page, path, at } = await opened(skip, { language: 'zh', theme: 'light', size: 'wide' })
  page.removeAllListeners('dialog')
  const asked: string[] = []
  page.on('dialog', async (dialog) => {
    asked.push(dialog.type())
    await dialog.accept()
  })
  await machine.run(path, "printf 'one\\r\\ntwo\\r\\n' > a.txt")
  const tree = page.getByRole('tree')
  const textOf = (name: string) => page.getByRole('textbox', { name: one.say('Text of {path}', { path: name }) })
  const open = async (name: string, shown = textOf(name)) => {
    await tree.getByText(name, { exact: true }).waitFor()
    await one.to(tree)
    await page.keyboard.press('Home')
    const row = tree.getByRole('treeitem', { name, exact: true })
    while (!((await row.getAttribute('class')) ?? '').includes('active')) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await shown.waitFor()
    return shown
  }
  await one.open(`${at}/files`)
  const text = await open('a.txt')
  await one.write(text, 'one\n2\n')
  await open('README.md')
  expect(await (await open('a.txt')).inputValue()).toBe('one\n2\n')
  // Which file is open is in the address.
  await page.goBack()
  await textOf('README.md').waitFor()
  await page.goForward()
  await text.waitFor()
  await one.reload()
  expect(asked).toEqual(['beforeunload'])
  expect(await text.inputValue()).toBe('one\n2\n')
  await one.to(text)
  const held = Promise.withResolvers<void>()
  await page.route('**/upload-files?unpack=true', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.keyboard.press('Control+s')
  await one.button('Saving…').waitFor()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('3')
  held.resolve()
  await one.reads('Not saved yet')
  await one.button('Save').waitFor()
  expect(await text.inputValue()).toBe('one\n2\n3')
  expect(await stored(path, 'a.txt')).toBe('one\r\n2\r\n')
  await machine.run(path, 'rm a.txt')
  await one.press(one.button('Save'))
  await one.reads('The file is not there any more. Nothing was saved.')
  await one.press(one.button('Save mine all the same'))
  await page.getByText(one.say('Saved.'), { exact: true }).waitFor()
  expect(await stored(path, 'a.txt')).toBe('one\r\n2\r\n3')
  // A text field with so much would hold the page up.
  await machine.run(path, 'seq 1 200000 > long.txt')
  await one.press(one.button('Read again'))
  await tree.getByText('long.txt', { exact: true }).waitFor()
  await open('long.txt', page.locator('.ws-beginning', { hasText: '9999' }))
  await one.looks('the beginning of a long file')
  await one.press(one.button('Edit it all the same'))
  await textOf('long.txt').waitFor()
  // The browser itself reports the answer that the file is not there.
  expect(one.faults.filter((fault) => !/status of 500/.test(fault))).toEqual([])
})

test('journey: changes are shown file by file and given up; the whole is there to download', async ({ skip }) => {
  const { one, page, path, at } = await opened(skip, { language: 'zh', theme: 'dark', size: 'wide' })
  await one.open(`${at}/changes`)
  const sure = (name: string) => one.press(page.getByRole('alertdialog').getByRole('button', { name }))
  await one.press(page.locator('summary', { hasText: 'src/[id] x.ts' }).first())
  await page.locator('.diff-line.removed', { hasText: 'two' }).waitFor()
  await page.locator('.diff-line.added', { hasText: 'TWO' }).waitFor()
  await one.press(one.button('Side by side'))
  await page.locator('td.added', { hasText: 'TWO' }).waitFor()
  await one.press(one.button('Revert'))
  await one.looks('a change that is to be given up')
  await sure(one.say('Revert'))
  await expect.poll(() => stored(path, 'src/[id] x.ts')).toBe('one\ntwo\n')
  await expect.poll(() => page.getByText('src/[id] x.ts').count()).toBe(0)
  await one.press(page.locator('summary', { hasText: 'new.txt' }).first())
  await one.press(one.button('Delete'))
  await sure(one.say('Delete'))
  await expect.poll(() => machine.call(`${path}/git/changes`)).toEqual([])
  await one.press(one.button('Read again'))
  await one.reads('Nothing has changed.')
  const [download] = await Promise.all([page.waitForEvent('download'), one.press(one.link('Download all'))])
  expect(download.suggestedFilename()).toBe('workspace.zip')
  expect(one.faults).toEqual([])
})

/** Where the sign stands in each row that has it behind one character. */
function placesOfTilde(rows: Element[]): number[] {
  return rows.flatMap((row) => {
    if (!/^..?~$/u.test(row.textContent?.trim() ?? '')) return []
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const at = node.textContent?.indexOf('~') ?? -1
      if (at < 0) continue
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + 1)
      return [Math.round(range.getBoundingClientRect().left)]
    }
    return []
  })
}

test('journey: two people type in the terminal of the page, a server that they start is listed, and its address is taken back', async ({
  skip,
}) => {
  const { one, page, at } = await opened(skip, { language: 'en', theme: 'dark', size: 'wide' })
  await one.open(`${at}/terminal`)
  await page.getByText('Connected').waitFor()
  await page.keyboard.type('echo "answer-$((6*7))"\n')
  await expect.poll(() => screen(page)).toContain('answer-42')
  // Who has the keyboard in it sees that, and the last row is whole.
  const outlines = () => page.locator('.ws-screen').evaluate((box) => getComputedStyle(box).outlineStyle)
  expect(await outlines()).toBe('solid')
  const rows = await page.locator('.xterm-screen').boundingBox()
  const frame = await page.locator('.ws-screen').boundingBox()
  expect((rows?.y ?? 0) + (rows?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0))
  const other = await page.context().newPage()
  await other.goto(`${at}/terminal`)
  await expect.poll(() => screen(other)).toContain('answer-42')
  await page.getByText('2 people are here').waitFor()
  await other.keyboard.type('printf "\\033]0;title\\007\\033[31mred\\033[0m 世界\\n"\n')
  await expect.poll(() => screen(page)).toMatch(/\nred 世界/)
  // A picture of one character is as wide as a Chinese one, and nothing of the library's own black is seen.
  await other.keyboard.type('printf "\\344\\270\\226~\\n\\360\\237\\216\\211~\\n"\n')
  await expect.poll(() => screen(page)).toContain('🎉~')
  expect(new Set(await page.locator('.xterm-rows > div').evaluateAll(placesOfTilde)).size).toBe(1)
  const grounds = await page
    .locator('.ws-screen, .xterm-viewport')
    .evaluateAll((boxes) => boxes.map((box) => getComputedStyle(box).backgroundColor))
  expect(new Set(grounds).size).toBe(1)
  await other.close()
  await page.bringToFront()
  // A paste is marked as one, so nothing of it runs by itself.
  await page.evaluate(() => {
    const data = new DataTransfer()
    data.setData('text/plain', 'echo pasted-$((1+1))\necho second-$((2+2))\n\u001b[201~\n')
    document
      .querySelector('.xterm-helper-textarea')
      ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })
  await expect.poll(() => screen(page)).toContain('second-$((2+2))')
  expect(await screen(page)).not.toMatch(/pasted-2|second-4/)
  await page.keyboard.press('Control+c')
  await page.keyboard.type("clear; node -e \"require('http').createServer((q,s)=>s.end('hi')).listen(3111)\" &\n")
  await one.looks('a terminal')
  await page.keyboard.press('Control+Shift+M')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Terminal')
  await tab(one, 'Servers')
  await page.getByText('3111').first().waitFor()
  const address = (await page.locator('.ws-port a').getAttribute('href')) ?? ''
  await one.press(one.button('Take back'))
  await one.looks('an address that is to be taken back')
  await one.press(page.getByRole('alertdialog').getByRole('button', { name: 'Take back' }))
  await expect.poll(() => page.locator('.ws-port a').getAttribute('href')).not.toBe(address)
  await tab(one, 'Terminal')
  await page.getByText('Connected').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('xterm')
  await page.keyboard.type('exit\n')
  await one.press(one.button('New shell'))
  await page.getByText('Connected').waitFor()
  expect(one.faults).toEqual([])
})

test('journey: without a runner the terminal says what to do and is a shell; every tab fits a phone, in Chinese and in the dark', async ({
  skip,
}) => {
  const { one, page, at } = await opened(skip, { language: 'zh', theme: 'dark', size: 'narrow' })
  const { conversation_id: edge } = await machine.call<{ conversation_id: string }>('/api/conversations?runtime=edge', {
    method: 'POST',
    body: {},
  })
  await one.open(`${machine.service.url}/conversations/${edge}/workspace/terminal`)
  await page.getByText('终端需要运行器').waitFor()
  await page.getByText('此会话在边缘运行').waitFor()
  // The shell of the edge takes commands meanwhile, and knows what was said before and where it stands.
  const command = one.field('Command')
  const printed = page.getByRole('log').locator('.output')
  for (const line of ['mkdir -p deep && cd deep && echo $((40 + 2)) > n', 'pwd; cat n', 'python3 -V']) {
    await one.write(command, line)
    await page.keyboard.press('Enter')
    await page.getByRole('log').locator('article', { hasText: line }).locator('.exit').waitFor()
  }
  expect(await printed.first().textContent()).toMatch(/\/deep\n42/)
  await page.keyboard.press('ArrowUp')
  expect(await command.inputValue()).toBe('python3 -V')
  await one.write(command, '')
  await one.looks('the shell of the edge')
  await one.press(one.button('Try again'))
  await one.press(one.link('Runtime and runners'))
  await one.heading('Runtime and runners').waitFor()
  await page.locator('.settings-row', { hasText: one.say('connected') }).waitFor()
  await one.looks('the runners')
  await one.open(`${at}/files`)
  const tree = page.getByRole('tree')
  await tree.getByText('README.md').waitFor()
  await one.looks('a tree on a phone')
  await one.to(tree)
  for (const key of ['End', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
  await page.locator('.ws-text').waitFor()
  await one.looks('a file on a phone')
  await one.press(page.locator('.ws-file').getByRole('button', { name: /文件/ }))
  await one.to(tree)
  for (const [name, sign] of [
    ['Changes', 'new.txt'],
    ['Servers', '工作区中没有运行中的服务'],
  ] as const) {
    await tab(one, one.say(name))
    await page.getByText(sign).first().waitFor()
    await one.looks(`the tab ${name} on a phone`)
  }
  await tab(one, one.say('Terminal'))
  await page.getByText('已连接').waitFor()
  await one.looks('a terminal on a phone')
  expect(one.faults).toEqual([])
})
