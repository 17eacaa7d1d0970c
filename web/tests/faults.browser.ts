/** Errors stay local: hostile messages, chunks that fail to load, invalid addresses, several people at one browser. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message, messages, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let lina: Person
beforeAll(async () => {
  app = await TestApp.start()
  lina = await app.person('Lina')
})
afterAll(() => app.close())
afterEach(() => app.closePages())

const fill = (part: string) => part.repeat(Math.floor(60_000 / part.length))
const BAD: Record<string, string> = {
  'nested quotes': `${fill('>')} x`,
  'nested lists': `${fill('- ')}x`,
  'many nested lists': fill(`${'- '.repeat(19)}x\n`),
  'a table with padded rows': `|${'a|'.repeat(7000)}\n|${'-|'.repeat(7000)}\n${'|a|\n'.repeat(8000)}`,
  'unclosed emphasis': fill('*a_ '),
  'unclosed links': fill('[a]('),
  headings: fill('a\n=\n'),
  footnotes: `${fill('[^1]')}\n\n[^1]: x`,
}

test('no message can crash or freeze the page', async () => {
  const space = await app.space('Bad', [lina])
  for (const text of Object.values(BAD)) await app.owner.client.messages.post(space.id, { text })
  await app.owner.client.messages.post(space.id, { text: 'the end' })
  const page = await app.open(lina, `/spaces/${space.id}`, { viewport: { width: 1000, height: 5000 } })
  await message(page, 'the end').waitFor()
  await expect.poll(() => messages(page).count()).toBe(Object.keys(BAD).length + 1)
  await send(page, 'still here')
  await expect.poll(async () => (await lina.client.messages.list(space.id)).messages.at(-1)!.text).toBe('still here')
  expect(app.pageErrors.splice(0)).toEqual([])
})

const XSS_CORPUS = [
  '<script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned=1">',
  '<svg onload="window.pwned=1"><a xlink:href="javascript:window.pwned=1">x</a></svg>',
  '[click](javascript:window.pwned=1)',
  '[click](JaVaScRiPt:window.pwned=1) [click](data:text/html,<script>window.pwned=1</script>) [click](vbscript:x)',
  '[click](&#1;javascript:window.pwned=1) [click](java&#9;script:window.pwned=1) <javascript:window.pwned=1>',
  '![x](javascript:window.pwned=1) ![x](x"onerror="window.pwned=1)',
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '<details open ontoggle="window.pwned=1">x</details>',
  '<a href="https://example.com" onclick="window.pwned=1" style="position:fixed;inset:0">x</a>',
  '```html\n<img src=x onerror="window.pwned=1">\n```',
  '`<img src=x onerror=window.pwned=1>` | <b>\n| - |\n| <img src=x onerror=window.pwned=1> |',
  '<form action="/api/session" method="post"><button>Sign in</button></form>',
  '<style>* { display: none }</style><link rel=stylesheet href=//evil.example>',
  '<meta http-equiv="refresh" content="0;url=//evil.example">',
  '@Lina<img src=x onerror=window.pwned=1>',
  '\u202Egnp.exe <base href="//evil.example">',
]

test('no message of the XSS corpus runs code or becomes an active element', async () => {
  const space = await app.space('Corpus', [lina])
  for (const text of XSS_CORPUS) {
    const { id } = await app.owner.client.messages.post(space.id, { text })
    await app.owner.client.messages.post(space.id, { text: '.', replyTo: id })
  }
  await app.owner.client.messages.post(space.id, { text: 'the end' })
  const page = await app.open(lina, `/spaces/${space.id}`, { viewport: { width: 1000, height: 6000 } })
  await message(page, 'the end').waitFor()
  const timeline = page.getByRole('group', { name: 'Messages' })
  for (const link of await timeline.getByRole('link', { name: 'click' }).all()) await link.click({ noWaitAfter: true })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('pwned')
  await page.getByRole('listbox', { name: 'Search results' }).getByText('onerror').first().waitFor()
  expect(await page.getByRole('listbox', { name: 'Search results' }).locator('img, svg, script, a').count()).toBe(0)
  await page.keyboard.press('Escape')
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
  expect(await timeline.locator('script, iframe, img, form, style, link, meta, base, object, [onerror], [onclick], [onload], [ontoggle]').count()).toBe(0)
  const addresses = await timeline.getByRole('link').evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).protocol))
  expect(addresses.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([])
  expect(await page.getByRole('navigation', { name: 'Spaces' }).isVisible()).toBe(true)
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('a chunk that fails to load can be closed, and loads when it is opened again', async () => {
  const space = await app.space('Apart', [lina])
  const { href } = new URL(`${app.gateway.url}/spaces/${space.id}`)
  const page = await app.open(lina, '/page/icon.svg')
  const chunks = '**/assets/Inspector-*.js*'
  // Without the network, or after an update of the gateway, which has other file names.
  await page.route(chunks, (route) => route.fulfill({ status: 404 }))
  await page.goto(href)
  await composer(page).fill('half a sentence')
  await page.getByRole('button', { name: 'Open inspector' }).click()
  const error = page.getByRole('alert').filter({ hasText: 'This part of the page failed to load' })
  await error.getByRole('button', { name: 'Close' }).click()
  await error.waitFor({ state: 'detached' })
  expect(await composer(page).inputValue()).toBe('half a sentence')
  // Search is always there, and it gets what is typed.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Apart')
  expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('Apart')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Open inspector' }).click()
  await error.waitFor()
  await page.unroute(chunks)
  await error.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('complementary', { name: 'Inspector' }).waitFor()
  expect(await composer(page).inputValue()).toBe('half a sentence')
  app.pageErrors.length = 0
})

test.each(['/admin/bogus', '/spaces'])('%s is not found', async (path) => {
  const page = await app.open(app.owner, path)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Back to spaces' }).click()
  await expect.poll(() => new URL(page.url()).pathname).not.toBe(path)
})

test('a single member is not "1 members"', async () => {
  const space = await app.space('Alone')
  const page = await app.open(app.owner, `/spaces/${space.id}`)
  await page.getByRole('button', { name: /^1 member\b(?!s)/ }).waitFor()
})

test('an invalid address shows an error page', async () => {
  const page = await app.open(lina, '/spaces/%E0%A4%A')
  await page.getByText('You don’t have access to this space').waitFor()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('a link to an unknown message shows a notice and the space', async () => {
  const space = await app.space('Astray', [lina])
  await app.owner.client.messages.post(space.id, { text: 'the only word' })
  const page = await app.open(lina, `/spaces/${space.id}/messages/msg_nowhere`)
  await page.getByText('The linked message is not in this space.').waitFor()
  await message(page, 'the only word').waitFor()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('drafts and unsent messages are neither shown to nor sent by the next person at the browser', async () => {
  const nour = await app.person('Nour')
  const space = await app.space('Shared', [lina, nour])
  const page = await app.open(lina, `/spaces/${space.id}`)
  const paths = '**/api/spaces/*/messages'
  await page.route(paths, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await send(page, 'only from Lina')
  await page.getByText('Will send when').waitFor()
  await composer(page).fill('a draft of Lina')
  const signIn = async (person: Person) => {
    await page.request.post('/api/session', { data: { token: person.token }, headers: { Origin: app.gateway.url } })
    await page.goto(`/spaces/${space.id}`)
    await composer(page).waitFor()
  }
  await page.unroute(paths)
  await signIn(nour)
  await page.getByRole('heading', { name: 'No messages yet' }).waitFor()
  expect(await composer(page).inputValue()).toBe('')
  await send(page, 'from Nour')
  await signIn(lina)
  await message(page, 'only from Lina').waitFor()
  await expect.poll(() => composer(page).inputValue()).toBe('a draft of Lina')
  const said = () => lina.client.messages.list(space.id).then((list) => list.messages.map((each) => `${each.sender.name}: ${each.text}`))
  await expect.poll(said).toEqual(['Nour: from Nour', 'Lina: only from Lina'])
})

test('signing in as another person reloads the other tabs', async () => {
  const sami = await app.person('Sami')
  const space = await app.space('Two tabs', [lina, sami])
  const first = await app.open(lina, `/spaces/${space.id}`)
  await composer(first).waitFor()
  await first.request.post('/api/session', { data: { token: sami.token }, headers: { Origin: app.gateway.url } })
  const second = await app.openTab(first.context())
  await second.goto(`/spaces/${space.id}`)
  for (const page of [first, second]) await page.getByRole('button', { name: /^S?\s*Sami/ }).waitFor()
})
