import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { act, composer, message, messages, spaceRow } from './harness/locators.ts'
import { pdf, wav } from './harness/media.ts'
import { png } from './harness/png.ts'
import { cards, sampleData } from './harness/sampleData.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let lina: Person
let at = ''
let cardsAt = ''
let adaId = ''
let startWriting: () => Promise<void>
beforeAll(async () => {
  app = await TestApp.start()
  const made = await sampleData(app)
  lina = made.lina
  at = `/spaces/${made.project.id}`
  await app.owner.client.entities.change(lina.id, { role: 'admin' })
  startWriting = made.startWriting
  adaId = made.ada.id
  cardsAt = `/spaces/${await cards(app, lina)}`
})
afterAll(() => app.close())

/** Violations of WCAG A and AA and of best practices, including contrast. */
async function violations(page: Page, only?: string[]): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async (values) => {
    const { axe: injected } = window as unknown as { axe: typeof axe }
    const result = await injected.run(document, { resultTypes: ['violations'], ...(values ? { runOnly: values } : {}) })
    return result.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)
  }, only)
  return found
}

describe.each(['light', 'dark'] as const)('axe finds no violations in %s mode', (colorScheme) => {
  test('on any page', async () => {
    const page = await app.open(lina, at, { colorScheme, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    await composer(page).waitFor()
    await startWriting()
    await page.locator('[data-stream]').getByText('the checks are written').waitFor()
    // Dark mode changes only colors.
    const only = colorScheme === 'dark' ? ['color-contrast'] : undefined
    const check = async (name: string) => expect(await violations(page, only), name).toEqual([])
    await check('space')
    app.model.release()
    await page.locator('[data-stream]').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open inspector' }).click()
    await page.getByRole('complementary').getByRole('button', { name: /Scout completed/ }).first().click()
    await page.getByRole('button', { name: 'Show prompt' }).click()
    await page.getByText('SPACE HISTORY').first().click()
    await check('run')
    await page.getByRole('button', { name: 'Members', exact: true }).click()
    await page.getByText('Idle').first().waitFor()
    await check('members')
    await page.getByRole('button', { name: 'Settings', exact: true }).click()
    await check('settings')
    await composer(page).pressSequentially('@')
    await page.getByRole('option').first().waitFor()
    await check('mention')
    await page.keyboard.press('Control+k')
    await page.getByRole('listbox', { name: 'Search results' }).getByRole('option').first().waitFor()
    await check('switcher')
    await page.keyboard.press('Escape')
    // Closing it restores the focus.
    await expect.poll(() => composer(page).evaluate((box) => box === document.activeElement)).toBe(true)
    await composer(page).fill('')
    await page.getByRole('button', { name: 'New space' }).click()
    await page.getByRole('dialog', { name: 'New space' }).waitFor()
    await check('new space')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('button', { name: 'New space' }).evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await check('keyboard shortcuts')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('menuitem', { name: 'Administration' }).waitFor()
    await check('menu')
    await page.keyboard.press('Escape')
    await page.goto(cardsAt)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    await check('cards')
    await act(page, message(page, 'approve: May I'), 'Read by')
    await page.getByRole('dialog', { name: 'Read by' }).getByText(/working on it/).waitFor()
    await check('deliveries')
    await page.goto(`${at}?inspect=${adaId}`)
    await page.getByText('No memories').waitFor()
    await check('agent')
    await page.goto(`/admin/agents/${adaId}`)
    for (const name of ['Model', 'Limits', 'Memory', 'Behavior', 'Versions', 'JSON']) {
      await page.getByRole('tab', { name }).click()
      await check(`agent editor, ${name}`)
    }
    await page.getByRole('tab', { name: 'Tools' }).click()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('textbox', { name: 'Tools for rule 1' }).fill('deploy')
    await page.getByRole('button', { name: 'Show prompt' }).click()
    await page.getByText('SPACE HISTORY').first().click()
    await check('agent editor')
    for (const path of ['/', '/admin/people', `/admin/people/${lina.id}`, '/admin/agents', '/admin/models', '/admin/spaces', '/admin/usage', '/admin/secrets', '/admin/webhooks', '/admin/audit', '/spaces/spc_0000000000000000']) {
      await page.goto(path)
      await page.getByRole('main').getByRole('heading').first().waitFor()
      await check(path)
    }
    const signInPage = await (await app.signedOut({ colorScheme })).newPage()
    await signInPage.goto('/')
    expect(await violations(signInPage), 'sign-in').toEqual([])
    expect(app.pageErrors).toEqual([])
    await app.closePages()
  })

  test('with files, a thread, the profile and an invite', async () => {
    const { client } = app.owner
    const space = await app.space('Files')
    const upload = (name: string, content: Buffer) => client.files.upload(space.id, new Blob([new Uint8Array(content)]), { name })
    const files = [await upload('view.png', png(400, 300)), await upload('notes.txt', Buffer.from('x')), await upload('report.pdf', pdf(['Report'])), await upload('sales.csv', Buffer.from('a,b\n1,2\n')), await upload('tone.wav', wav(1))]
    const parent = await client.messages.post(space.id, { text: 'The plan', files: files.map((file) => file.id) })
    await client.messages.post(space.id, { text: 'Thank you', replyTo: parent.id })
    const page = await app.open(app.owner, `/spaces/${space.id}`, { colorScheme, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    const check = async (name: string) => expect(await violations(page, colorScheme === 'dark' ? ['color-contrast'] : undefined), name).toEqual([])
    await page.getByRole('button', { name: '1 reply' }).click()
    await page.getByRole('list', { name: 'Replies' }).getByText('Thank you').waitFor()
    await page.route('**/api/spaces/*/files', (route) => route.abort())
    await page.getByLabel('Files to attach').setInputFiles([{ name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('y') }])
    await page.getByRole('list', { name: 'Files to send' }).getByRole('alert').waitFor()
    await check('a thread and a failed upload')
    await page.unroute('**/api/spaces/*/files')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('button', { name: 'Remove late.txt' }).waitFor()
    const panel = page.getByRole('complementary')
    await panel.getByRole('button', { name: 'Files', exact: true }).click()
    await panel.getByRole('list', { name: 'Files of this space' }).waitFor()
    await check('gallery')
    for (const [name, shown] of [['notes.txt', 'Text of the file'], ['report.pdf', 'Page 1'], ['sales.csv', 'Table']] as const) {
      await panel.getByRole('button', { name: `Show ${name}` }).click()
      await page.getByRole('dialog', { name }).getByLabel(shown, { exact: true }).waitFor()
      await check(name)
      await page.keyboard.press('Escape')
    }
    await panel.getByRole('button', { name: 'Enlarge view.png' }).click()
    await page.getByRole('dialog', { name: 'view.png' }).waitFor()
    await check('picture')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /account menu/ }).click()
    await page.getByRole('menuitem', { name: 'Your profile' }).click()
    await page.getByRole('list', { name: 'Tokens, sessions and links' }).waitFor()
    await check('profile')
    await page.keyboard.press('Escape')
    await panel.getByRole('button', { name: 'Members', exact: true }).click()
    await panel.getByRole('button', { name: 'Invite people' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite people' })
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByRole('img', { name: 'QR code of the invite' }).waitFor()
    await dialog.getByRole('region', { name: 'Invites that work' }).waitFor()
    await check('invite')
    expect(app.pageErrors).toEqual([])
    await app.closePages()
  })
})

test('axe finds no violations on a phone', async () => {
  const page = await app.open(lina, '/', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' })
  await spaceRow(page, 'Project Alpha').waitFor()
  expect(await violations(page), 'list').toEqual([])
  for (const path of [at, cardsAt, `${at}?inspect=members`, `/admin/agents/${adaId}`]) {
    await page.goto(path)
    await page.getByRole('main').getByRole('heading').first().waitFor()
    expect(await violations(page), path).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(360)
  }
  await app.closePages()
})

test('a phone shows one column that fits the screen', async () => {
  const page = await app.open(lina, '/', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  await spaceRow(page, 'Project Alpha').tap()
  await messages(page).first().waitFor()
  await expect.poll(() => spaceRow(page, 'Project Alpha').isVisible()).toBe(false)
  expect(await composer(page).isVisible()).toBe(true)
  const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll('header, form, article')].map((each) => Math.ceil(each.getBoundingClientRect().right))])
  expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
  // A tap shows the actions of a message.
  const last = message(page, 'Let’s keep Thursday then')
  await last.tap()
  await last.getByRole('button', { name: 'Reply' }).tap()
  await page.getByText('Replying to Lina').waitFor()
  await page.getByRole('button', { name: 'Cancel reply' }).tap()
  await page.getByRole('button', { name: /members/ }).tap()
  await page.getByRole('complementary').getByText('People').waitFor()
  expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
  await page.getByRole('button', { name: 'Close inspector' }).last().tap()
  await page.getByRole('button', { name: 'All spaces' }).tap()
  await spaceRow(page, 'Project Alpha').waitFor()
  await app.closePages()
})
