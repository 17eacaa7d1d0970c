import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { composer, message, messages, spaceRow } from './harness/locators.ts'
import { cards, scene } from './harness/sampleData.ts'

let house: House
let lina: Person
let at = ''
let cardsAt = ''
let adaId = ''
let writing: () => Promise<void>
beforeAll(async () => {
  house = await House.open()
  const made = await scene(house)
  lina = made.lina
  at = `/spaces/${made.project.id}`
  await house.owner.client.entities.change(lina.id, { role: 'admin' })
  writing = made.writing
  adaId = made.ada.id
  cardsAt = `/spaces/${await cards(house, lina)}`
})
afterAll(() => house.close())

/** Rules of WCAG A and AA and good practice, contrast among them. */
async function violations(page: Page, only?: string[]): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async (values) => {
    const { axe: injected } = window as unknown as { axe: typeof axe }
    const result = await injected.run(document, { resultTypes: ['violations'], ...(values ? { runOnly: values } : {}) })
    return result.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)
  }, only)
  return found
}

describe.each(['light', 'dark'] as const)('axe finds nothing in %s', (colorScheme) => {
  test('on any page', async () => {
    const page = await house.visit(lina, at, { colorScheme, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    await composer(page).waitFor()
    await writing()
    await page.locator('[data-stream]').getByText('the checks are written').waitFor()
    // In the dark only the colours are others.
    const only = colorScheme === 'dark' ? ['color-contrast'] : undefined
    const look = async (name: string) => expect(await violations(page, only), name).toEqual([])
    await look('space')
    house.model.release()
    await page.locator('[data-stream]').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open the inspector' }).click()
    await page.getByRole('complementary').getByRole('button', { name: /Scout completed/ }).first().click()
    await page.getByRole('button', { name: 'What it saw' }).click()
    await page.getByText('SPACE HISTORY').first().click()
    await look('run')
    await page.getByRole('button', { name: 'Members', exact: true }).click()
    await page.getByText('asleep').first().waitFor()
    await look('members')
    await page.getByRole('button', { name: 'Space', exact: true }).click()
    await look('settings')
    await composer(page).pressSequentially('@')
    await page.getByRole('option').first().waitFor()
    await look('mention')
    await page.keyboard.press('Control+k')
    await page.getByRole('listbox', { name: 'Found' }).getByRole('option').first().waitFor()
    await look('switcher')
    await page.keyboard.press('Escape')
    // It gives the focus back to where it was taken from.
    await expect.poll(() => composer(page).evaluate((box) => box === document.activeElement)).toBe(true)
    await composer(page).fill('')
    await page.getByRole('button', { name: 'New space' }).click()
    await page.getByRole('dialog', { name: 'A new space' }).waitFor()
    await look('new space')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('button', { name: 'New space' }).evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await look('keyboard map')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('menuitem', { name: 'Administration' }).waitFor()
    await look('menu')
    await page.keyboard.press('Escape')
    await page.goto(cardsAt)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await look('cards')
    await message(page, 'approve: May I').hover()
    await message(page, 'approve: May I').getByRole('button', { name: 'Who has it' }).click()
    await page.getByRole('dialog', { name: 'Who has it' }).getByText(/reading it/).waitFor()
    await look('deliveries')
    await page.goto(`${at}?inspect=${adaId}`)
    await page.getByText('It remembers nothing yet').waitFor()
    await look('agent')
    await page.goto(`/admin/agents/${adaId}`)
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByRole('textbox', { name: 'Tools of rule 1' }).fill('deploy')
    await page.getByRole('button', { name: 'Show what it would see' }).click()
    await page.getByText('SPACE HISTORY').first().click()
    await look('agent editor')
    for (const path of ['/', '/admin/people', `/admin/people/${lina.id}`, '/admin/agents', '/admin/spaces', '/spaces/spc_0000000000000000']) {
      await page.goto(path)
      await page.getByRole('main').getByRole('heading').first().waitFor()
      await look(path)
    }
    const door = await (await house.stranger({ colorScheme })).newPage()
    await door.goto('/')
    expect(await violations(door), 'sign-in').toEqual([])
    expect(house.complaints).toEqual([])
    await house.leaveAll()
  })
})

test('axe finds nothing on a phone', async () => {
  const page = await house.visit(lina, '/', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' })
  await spaceRow(page, 'Project Alpha').waitFor()
  expect(await violations(page), 'list').toEqual([])
  for (const path of [at, cardsAt, `${at}?inspect=members`, `/admin/agents/${adaId}`]) {
    await page.goto(path)
    await page.getByRole('main').getByRole('heading').first().waitFor()
    expect(await violations(page), path).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(360)
  }
  await house.leaveAll()
})

describe('on a phone', () => {
  test('one column, from the list to a space and back, and nothing is wider than the screen', async () => {
    const page = await house.visit(lina, '/', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
    await spaceRow(page, 'Project Alpha').tap()
    await messages(page).first().waitFor()
    await expect.poll(() => spaceRow(page, 'Project Alpha').isVisible()).toBe(false)
    expect(await composer(page).isVisible()).toBe(true)
    const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll('header, form, article')].map((each) => Math.ceil(each.getBoundingClientRect().right))])
    expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
    // A touch is enough to see what can be done with a message.
    const last = message(page, 'Let us keep Thursday then')
    await last.tap()
    await last.getByRole('button', { name: 'Answer this message' }).tap()
    await page.getByText('Answering Lina').waitFor()
    await page.getByRole('button', { name: 'Do not answer this message' }).tap()
    await page.getByRole('button', { name: /members/ }).tap()
    await page.getByRole('complementary').getByText('People').waitFor()
    expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
    await page.getByRole('button', { name: 'Close the inspector' }).last().tap()
    await page.getByRole('button', { name: 'All spaces' }).tap()
    await spaceRow(page, 'Project Alpha').waitFor()
    await house.leaveAll()
  })
})

const CORPUS = [
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

test('nothing of the XSS corpus runs, and none of it becomes an element that could', async () => {
  const space = await house.space('Corpus', [lina])
  for (const text of CORPUS) {
    const { id } = await house.owner.client.messages.post(space.id, { text })
    await house.owner.client.messages.post(space.id, { text: '.', replyTo: id })
  }
  await house.owner.client.messages.post(space.id, { text: 'the end' })
  const page = await house.visit(lina, `/spaces/${space.id}`, { viewport: { width: 1000, height: 6000 } })
  await message(page, 'the end').waitFor()
  const timeline = page.getByRole('group', { name: 'Messages' })
  for (const link of await timeline.getByRole('link', { name: 'click' }).all()) await link.click({ noWaitAfter: true })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).fill('pwned')
  await page.getByRole('listbox', { name: 'Found' }).getByText('onerror').first().waitFor()
  expect(await page.getByRole('listbox', { name: 'Found' }).locator('img, svg, script, a').count()).toBe(0)
  await page.keyboard.press('Escape')
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
  expect(await timeline.locator('script, iframe, img, form, style, link, meta, base, object, [onerror], [onclick], [onload], [ontoggle]').count()).toBe(0)
  const addresses = await timeline.getByRole('link').evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).protocol))
  expect(addresses.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([])
  expect(await page.getByRole('navigation', { name: 'Spaces' }).isVisible()).toBe(true)
  await house.leaveAll()
})
