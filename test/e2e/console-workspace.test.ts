// The page of a workspace in a real browser: a real service, a real runner beside it.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import { LentMachine, missingForSandbox } from '../support/lent-machine.ts'
import { browserOr, openPage, overflowOf } from './browser.ts'

const test = missingForSandbox() === null ? plain : plain.skip
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 800 }
let machine: LentMachine

beforeAll(async () => {
  if (missingForSandbox() === null) machine = await LentMachine.start()
})
afterAll(() => machine?.stop())

const REPOSITORY = `git init -q . && git config user.name a && git config user.email a@b && mkdir -p src many &&
printf 'one\\ntwo\\n' > 'src/[id] x.ts' && echo hello > README.md && seq -f 'many/file-%04g.txt' 1 600 | xargs touch &&
git add -A && git commit -qm first && printf 'one\\nTWO\\n' > 'src/[id] x.ts' && echo new > new.txt`

async function opened(skip: (note: string) => never) {
  const browser = browserOr(skip)
  const path = await machine.conversation()
  expect((await machine.run(path, REPOSITORY)).extras.metadata?.exit_code).toBe(0)
  const watched = await openPage({ browser, origin: machine.service.url, viewport: DESKTOP })
  const at = `${machine.service.url}${path.replace('/api', '')}/workspace`
  return { ...watched, path, at }
}

const stored = async (path: string, file: string) =>
  (await machine.call<{ code: string }>(`${path}/select-file?file=${encodeURIComponent(file)}`)).code
const tab = (page: Page, name: string) => page.locator('.ws-tabs').getByRole('link', { name }).click()
const screen = (page: Page) => page.locator('.xterm-rows').innerText()

test('a file is found by the keyboard, edited and saved where it stands; a change of somebody else is not lost', async ({
  skip,
}) => {
  const { page, faults, path, at } = await opened(skip)
  const socket = page.waitForEvent('websocket')
  await page.goto(at.replace('/workspace', ''))
  await (await socket).waitForEvent('framereceived')
  await page.getByRole('link', { name: 'Workspace' }).click()
  const tree = page.getByRole('tree', { name: 'Files' })
  await tree.getByText('README.md').waitFor()
  await tree.focus()
  for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await tree.getByText('[id] x.ts').waitFor()
  for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
  const text = page.getByRole('textbox', { name: 'Text of src/[id] x.ts' })
  await text.waitFor()
  expect(await text.inputValue()).toBe('one\nTWO\n')
  await text.fill('one\nthree 世界\n')
  await page.keyboard.press('Control+s')
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect(await stored(path, 'src/[id] x.ts')).toBe('one\nthree 世界\n')
  await machine.run(path, "echo theirs > 'src/[id] x.ts'")
  await text.fill('mine\n')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('The file was changed since you opened it').waitFor()
  expect(await stored(path, 'src/[id] x.ts')).toBe('theirs\n')
  await page.getByRole('button', { name: 'Save mine all the same' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  expect((await machine.run(path, "cat 'src/[id] x.ts'")).content).toBe('mine')
  // A long folder has few elements.
  await tree.getByText('many').click()
  await tree.getByText('file-0001.txt').waitFor()
  expect(await page.getByRole('treeitem').count()).toBeLessThan(80)
  await tree.focus()
  await page.keyboard.press('End')
  await tree.getByText('new.txt').waitFor()
  expect(faults).toEqual([])
})

test('changes are shown file by file and can be given up; the whole is there to download', async ({ skip }) => {
  const { page, faults, path, at } = await opened(skip)
  await page.goto(`${at}/changes`)
  await page.getByText('src/[id] x.ts').click()
  await page.locator('.diff-line.removed', { hasText: 'two' }).waitFor()
  await page.locator('.diff-line.added', { hasText: 'TWO' }).waitFor()
  await page.getByRole('button', { name: 'Revert' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revert' }).click()
  await expect.poll(() => stored(path, 'src/[id] x.ts')).toBe('one\ntwo\n')
  await expect.poll(() => page.getByText('src/[id] x.ts').count()).toBe(0)
  await page.getByText('new.txt').click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  const changes = () => machine.call(`${path}/git/changes`)
  await expect.poll(changes).toEqual([])
  await page.getByRole('button', { name: 'Read again' }).click()
  await page.getByText('Nothing has changed.').waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download all' }).click()
  expect((await download).suggestedFilename()).toBe('workspace.zip')
  expect(faults).toEqual([])
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

test('two people type in the terminal of the page, a server that they start is listed, and its address is taken back', async ({
  skip,
}) => {
  const { page, faults, at } = await opened(skip)
  await page.goto(`${at}/terminal`)
  await page.getByText('Connected').waitFor()
  await page.keyboard.type('echo "answer-$((6*7))"\n')
  await expect.poll(() => screen(page)).toContain('answer-42')
  // The last row is whole.
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
  await page.keyboard.press('Control+Shift+M')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Terminal')
  await tab(page, 'Servers')
  await page.getByText('3111').first().waitFor()
  const address = (await page.locator('.ws-port a').getAttribute('href')) ?? ''
  await page.getByRole('button', { name: 'Take back' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take back' }).click()
  await expect.poll(() => page.locator('.ws-port a').getAttribute('href')).not.toBe(address)
  await tab(page, 'Terminal')
  await page.getByText('Connected').waitFor()
  await page.keyboard.type('exit\n')
  await page.getByRole('button', { name: 'New shell' }).click()
  await page.getByText('Connected').waitFor()
  expect(faults).toEqual([])
})

test('without a runner the terminal says what to do; every tab fits a phone, in Chinese and in the dark', async ({
  skip,
}) => {
  const { page, faults, at } = await opened(skip)
  const { conversation_id: edge } = await machine.call<{ conversation_id: string }>('/api/conversations?runtime=edge', {
    method: 'POST',
    body: {},
  })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(PHONE)
  await page.goto(`${machine.service.url}/conversations/${edge}/workspace/terminal`)
  await page.getByText('runtime=runner').waitFor()
  expect(await overflowOf(page)).toBe(0)
  await page.getByRole('combobox', { name: 'Language' }).selectOption('zh')
  await page.getByText('终端需要运行器').waitFor()
  for (const [name, sign] of [
    ['files', '请选择文件。'],
    ['changes', 'new.txt'],
    ['terminal', '已连接'],
    ['ports', '工作区中没有运行中的服务'],
  ] as const) {
    await page.goto(`${at}/${name}`)
    if (name === 'files') await page.getByRole('treeitem', { name: 'README.md' }).click()
    else await page.getByText(sign).first().waitFor()
    expect([name, await overflowOf(page)]).toEqual([name, 0])
  }
  expect(faults).toEqual([])
})
