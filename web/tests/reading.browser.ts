/** Reading: what is folded, what is shown as it was typed, what the screen leaves uncovered. */
import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { act, composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
})
afterAll(() => app.close())
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!, ada!])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})
const at = () => `/spaces/${space.id}`
const post = (text: string) => omar!.client.messages.post(space.id, { text })
const LONG = `A long tale. ${'And then it went on. '.repeat(400)} The end of it.`

test('an answer that was streamed in view is not folded when it ends, and older long messages are', async () => {
  await post(LONG.replace('A long', 'An older'))
  await post('in between')
  const page = await app.open(lina!, at())
  await message(page, 'An older tale').getByRole('button', { name: 'Show more' }).waitFor()
  app.model.interpret({ 'tell me': `say: ${LONG}` })
  await send(page, 'tell me')
  const told = message(page, 'A long tale')
  await told.getByText('The end of it.').waitFor()
  await page.locator('[data-stream]').waitFor({ state: 'detached' })
  await told.getByRole('button', { name: 'Show less' }).waitFor()
  // It also stays open when it is no longer the newest message.
  await post('the next message')
  await message(page, 'the next message').waitFor()
  expect(await told.getByRole('button', { name: 'Show more' }).count()).toBe(0)
})

test('text that looks like a tag is shown as it was typed', async () => {
  await post('Use a List<String> or a Map<K, V>.\n\n<details>is not a tag here</details>')
  const page = await app.open(lina!, at())
  await message(page, 'Use a List<String> or a Map<K, V>.').waitFor()
  await message(page, '<details>is not a tag here</details>').waitFor()
})

test('a wide table scrolls and breaks no words', async () => {
  const cells = Array.from({ length: 12 }, (_, n) => `adipiscing${n}`)
  await post(`|${cells.join('|')}|\n|${cells.map(() => '-').join('|')}|\n|${cells.map(() => '123456789').join('|')}|`)
  const page = await app.open(lina!, at())
  const table = message(page, 'adipiscing0').getByRole('group', { name: 'Table' })
  await table.waitFor()
  expect(await table.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true)
  const heights = await table.locator('td').evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThan(50)
})

test.each([['left-to-right', 'Latin words '], ['right-to-left', 'هذا نص عربي طويل ']])('the actions of a message cover no %s text', async (_, words) => {
  await post('the first of a group')
  await post(words.repeat(20))
  const page = await app.open(lina!, at())
  const row = message(page, words.trim()).last()
  await row.hover()
  const actions = await row.getByRole('button', { name: 'Reply' }).boundingBox()
  const text = await row.locator('.prose').boundingBox()
  expect(text!.x + text!.width).toBeLessThanOrEqual(actions!.x)
})

test('copying the text or the link of a message is confirmed', async () => {
  const { id } = await post('copy **me**')
  const page = await app.open(lina!, at(), { permissions: ['clipboard-read', 'clipboard-write'] })
  await act(page, message(page, 'copy me'), 'Copy text')
  await page.getByText('Text copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('copy **me**')
  await act(page, message(page, 'copy me'), 'Copy link')
  await page.getByText('Link copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${app.gateway.url}${at()}/messages/${id}`)
})

test('the highlight of a linked message ends', async () => {
  const { id } = await post('look here')
  const page = await app.open(lina!, `${at()}/messages/${id}`)
  await page.locator('article.animate-mark').waitFor()
  await page.locator('article.animate-mark').waitFor({ state: 'detached' })
})

test('opening a space with more unread messages than fit reads only those on the screen', async () => {
  const busy = await app.space('Busy', [lina!, omar!])
  await app.gateway.fillHistory(busy.id, omar!.id, 160)
  const { messages: newest } = await lina!.client.messages.list(busy.id, { limit: 100 })
  await lina!.client.spaces.read(busy.id, newest[9]!.id)
  const page = await app.open(lina!, `/spaces/${busy.id}`)
  await page.getByRole('group', { name: 'Messages' }).getByText('New', { exact: true }).waitFor()
  const left = async () => (await lina!.client.spaces.get(busy.id)).unreadCount
  await expect.poll(left).toBeLessThan(90)
  expect(await left()).toBeGreaterThan(50)
  const latest = page.getByRole('button', { name: /Jump to latest/ })
  const shown = async () => Number(/(\d+) new/.exec(await latest.innerText())?.[1])
  await expect.poll(async () => (await shown()) - (await left())).toBe(0)
  // The messages that were skipped stay unread, and can be read or marked as read.
  await latest.click()
  await message(page, 'line 159.').waitFor()
  await page.getByRole('button', { name: /Jump to first unread · \d+ above/ }).waitFor()
  expect(await left()).toBeGreaterThan(50)
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await expect.poll(left).toBe(0)
  await page.getByRole('button', { name: /Jump to first unread/ }).waitFor({ state: 'detached' })
})

test('a failure is shown at its message: the fact for members, the reason and the setting for admins', async () => {
  app.model.interpret({ 'Are you there?': 'fail: no key' })
  const [hers, owners] = await Promise.all([app.open(lina!, at()), app.open(app.owner, at())])
  await post('Are you there?')
  for (const page of [hers, owners]) {
    const rows = page.getByRole('group', { name: 'Messages' }).getByRole('listitem')
    await rows.filter({ hasText: 'Are you there?' }).getByText('Ada couldn\'t answer. An admin has been notified.').waitFor()
  }
  await owners.getByText(/The model server at 127.0.0.1:\d+/).waitFor()
  expect(await hers.getByText(/The model server at/).count()).toBe(0)
  expect(await hers.getByRole('link', { name: 'Open settings' }).count()).toBe(0)
  await owners.goto('/')
  await owners.getByRole('region', { name: 'Agents that couldn’t answer' }).getByText('Ada').waitFor()
  await owners.goBack()
  await owners.getByRole('link', { name: 'Open settings' }).click()
  await owners.getByRole('textbox', { name: 'Instructions' }).waitFor()
})

test('search shows the match, opens a folded message at it, and finds more than one page', async () => {
  await post(`${'An old story. '.repeat(600)}The samovars were polished. ${'And on it goes. '.repeat(300)}`)
  for (let n = 0; n < 25; n++) await post(`kettle ${n}`)
  const page = await app.open(lina!, at())
  await message(page, 'kettle 0').waitFor()
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox', { name: 'Search' })
  await box.fill('kettle from:omar')
  const options = page.getByRole('option')
  await expect.poll(() => options.count()).toBe(20)
  await page.getByRole('button', { name: 'Show more results' }).click()
  await expect.poll(() => options.count()).toBe(25)
  await box.fill('samovar')
  await options.locator('mark', { hasText: 'samovars' }).waitFor()
  await page.keyboard.press('Enter')
  await message(page, 'An old story.').getByRole('button', { name: 'Show less' }).waitFor()
  await expect.poll(() => page.evaluate(() => [...(CSS.highlights.get('found') ?? [])].map(String))).toEqual(['samovars'])
  const top = () => page.evaluate(() => ([...(CSS.highlights.get('found') ?? [])][0] as Range).getBoundingClientRect().top)
  await expect.poll(async () => (await top()) > 0 && (await top()) < 800).toBe(true)
})

test('an agent with several open questions has one line, which leads to the first question', async () => {
  const iris = await app.agent('Iris', { tools: [{ name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' }] })
  await app.owner.client.spaces.add(space.id, { entityId: iris.id, role: 'member' })
  for (const n of [1, 2, 3]) await omar!.client.messages.post(space.id, { text: `@Iris approve: Question ${n}?`, mentions: [iris.id] })
  const page = await app.open(lina!, at(), { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true })
  const bar = page.getByRole('list', { name: 'Active agents' })
  await bar.getByText('needs 3 decisions').waitFor()
  expect((await bar.boundingBox())!.height).toBeLessThan(32)
  await bar.getByRole('button', { name: /Iris needs 3 decisions · Show/ }).tap()
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/messages\/msg_/)
})

test('at 1024 pixels the inspector covers neither the conversation nor the composer', async () => {
  await post('still readable')
  const page = await app.open(lina!, `${at()}?inspect=runs`, { viewport: { width: 1024, height: 768 } })
  const panel = await page.getByRole('complementary', { name: 'Inspector' }).boundingBox()
  const send = await page.getByRole('button', { name: 'Send' }).boundingBox()
  expect(send!.x + send!.width).toBeLessThanOrEqual(panel!.x)
  expect((await composer(page).boundingBox())!.width).toBeGreaterThan(400)
  // All tabs fit beside the button that closes it.
  const panelTabs = page.getByRole('complementary', { name: 'Inspector' })
  const last = await panelTabs.getByRole('navigation').getByRole('button').last().boundingBox()
  const close = await panelTabs.getByRole('button', { name: 'Close inspector' }).boundingBox()
  expect(last!.x + last!.width).toBeLessThanOrEqual(close!.x)
})

test('on a touch screen Enter starts a new line and the button sends', async () => {
  const page = await app.open(lina!, at(), { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true })
  await composer(page).fill('one')
  await composer(page).press('Enter')
  await composer(page).pressSequentially('two')
  expect(await composer(page).inputValue()).toBe('one\ntwo')
  await page.getByRole('button', { name: 'Send' }).tap()
  await message(page, 'two').waitFor()
  // The page shows it before the server has it.
  await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages[0]?.text).toBe('one\ntwo')
})

test('opening a space that is not loaded says that it will load when the connection is back', async () => {
  const other = await app.space('Elsewhere', [lina!])
  await app.owner.client.messages.post(other.id, { text: 'hello from elsewhere' })
  const page = await app.open(lina!, at())
  await composer(page).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name: /^Elsewhere/ }).click()
  await page.getByText('You’re offline. The messages of this space will load').waitFor()
  await page.context().setOffline(false)
  await message(page, 'hello from elsewhere').waitFor()
})

test('the keyboard switches spaces, moves through messages, scrolls while typing and hides the sidebar', async () => {
  const other = await app.space('Zebra', [lina!])
  for (let n = 0; n < 30; n++) await lina!.client.messages.post(space.id, { text: `line ${n}` })
  const page = await app.open(lina!, at())
  await message(page, 'line 29').waitFor()
  const here = () => new URL(page.url()).pathname
  await composer(page).press('Alt+ArrowDown')
  await expect.poll(here).not.toBe(at())
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(here).toBe(at())
  await message(page, 'line 29').waitFor()
  const box = page.getByRole('group', { name: 'Messages' })
  const top = () => box.evaluate((each) => each.scrollTop)
  const before = await top()
  await composer(page).press('PageUp')
  await expect.poll(top).toBeLessThan(before)
  await box.focus()
  await page.keyboard.press('j')
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
  await expect.poll(focused).toMatch(/line \d+/)
  const first = await focused()
  await page.keyboard.press('k')
  await expect.poll(focused).not.toBe(first)
  const sidebar = page.getByRole('navigation', { name: 'Spaces' })
  await page.keyboard.press('Control+b')
  await sidebar.waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+b')
  await sidebar.waitFor()
  await app.owner.client.spaces.delete(other.id)
})

test('a pinned space stays on top, a muted one is not counted', async () => {
  const nour = await app.person('Nour')
  const [quiet, loud] = [await app.space('Quiet', [nour]), await app.space('Loud', [nour])]
  const page = await app.open(nour, `/spaces/${quiet.id}`)
  const choose = async (item: string) => {
    await page.getByRole('button', { name: 'Space options' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Pin to top')
  await page.getByRole('list', { name: 'Pinned' }).getByRole('link', { name: /^Quiet/ }).waitFor()
  await choose('Mute')
  await page.goto(`/spaces/${loud.id}`)
  await app.owner.client.messages.post(quiet.id, { text: 'not counted' })
  await page.getByRole('list', { name: 'Pinned' }).getByText('not counted').waitFor()
  expect(await page.title()).toBe('Loud · Majlis')
})

test('an answer that an agent wrote but did not send can be read and posted by the asker alone', async () => {
  const [hers, his] = await Promise.all([app.open(lina!, at()), app.open(omar!, at())])
  await send(hers, 'mutter: The door is green.')
  await hers.getByText('Ada wrote an answer but did not send it.').waitFor()
  await hers.getByRole('button', { name: 'Read', exact: true }).click()
  await hers.getByText('The door is green.', { exact: true }).waitFor()
  expect(await his.getByText('did not send it').count()).toBe(0)
  await hers.getByRole('button', { name: 'Post', exact: true }).click()
  await message(his, 'The door is green.').last().getByText('Ada', { exact: true }).waitFor()
  await hers.getByText('did not send it').waitFor({ state: 'detached' })
})

test('Home lists questions and decisions that wait for the user', async () => {
  // A person with only one space starts there.
  await app.space('Elsewhere', [lina!])
  await omar!.client.messages.post(space.id, { text: 'ask: Tea or coffee for the guests?' })
  const page = await app.open(lina!, '/')
  const questions = page.getByRole('region', { name: 'Waiting for your reply' })
  await questions.getByText('Tea or coffee for the guests?').waitFor()
  await questions.getByRole('link').first().click()
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/messages\/msg_/)
})

test('Home lists what agents did since the user was last here', async () => {
  await app.space('Elsewhere', [lina!])
  const runs = async () => (await lina!.client.runs.list({ spaceId: space.id, status: 'completed' })).runs
  for (const n of [1, 2]) {
    await post(`say: answer ${n}`)
    await expect.poll(async () => (await runs()).length).toBe(n)
  }
  const page = await app.open(lina!, '/')
  const row = page.getByRole('region', { name: 'What agents did' }).getByRole('link').filter({ hasText: 'say: answer 2' })
  await row.getByText(/^2 runs/).waitFor()
  // The first one ended before the user left.
  const left = Date.parse((await runs())[1]!.endedAt!) + 1
  await page.addInitScript(([id, since]) => localStorage.setItem(`majlis.visit.${id}`, JSON.stringify({ left: Date.now(), since })), [lina!.id, left] as const)
  await page.reload()
  await row.getByText(/^1 run\b/).waitFor()
  await row.click()
  await page.getByRole('complementary', { name: 'Inspector' }).getByRole('button', { name: /Ada completed/ }).first().waitFor()
  expect(new URL(page.url()).pathname).toBe(at())
})
