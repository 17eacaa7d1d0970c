/** Files in messages (L4): attach by button, paste and drop; progress, cancel and retry; how messages show them. */
import type { Space } from '@majlis/client'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { composer, message, spaceRow } from './harness/locators.ts'
import { png } from './harness/png.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start({ MAJLIS_MAX_FILE_BYTES: '3000000' })
  ;[lina, omar] = [await app.person('Lina'), await app.person('Omar')]
})
afterAll(() => app.close())
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

const at = () => `/spaces/${space.id}`
const picture = (name = 'garden.png', width = 800, height = 600) => ({ name, mimeType: 'image/png', buffer: png(width, height) })
const text = (name: string, content: string, mimeType = 'text/plain') => ({ name, mimeType, buffer: Buffer.from(content) })
const choose = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) => page.getByLabel('Files to attach').setInputFiles(files)
const waiting = (page: Page, name: string) => page.getByRole('list', { name: 'Files to send' }).getByRole('listitem', { name })
const uploaded = (page: Page, name: string) => waiting(page, name).getByRole('button', { name: `Remove ${name}` }).waitFor()
const sendButton = (page: Page) => page.getByRole('button', { name: 'Send' })

/** Files as the browser hands them to a paste or a drop. */
const transfer = (page: Page, ...files: { name: string; type: string; content: string }[]) =>
  page.evaluateHandle((all) => {
    const data = new DataTransfer()
    for (const { name, type, content } of all) data.items.add(new File([content], name, { type }))
    return data
  }, files)

test('L4: several files are attached with the button and sent with a text; the message shows them to others', async () => {
  const [hers, his] = await Promise.all([app.open(lina!, at()), app.open(omar!, at())])
  await choose(hers, picture(), text('notes.csv', 'a,b\n1,2\n'), text('report.pdf', '%PDF-1.4 x'))
  for (const name of ['garden.png', 'notes.csv', 'report.pdf']) await uploaded(hers, name)
  await composer(hers).fill('Here is everything')
  await sendButton(hers).click()
  const row = message(his, 'Here is everything')
  const shown = row.getByRole('img', { name: 'garden.png' })
  // The picture is loaded, and within bounds.
  await expect.poll(() => shown.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(800)
  const box = (await shown.boundingBox())!
  expect(box.width).toBeLessThanOrEqual(360)
  expect(box.width / box.height).toBeCloseTo(800 / 600, 1)
  await row.getByRole('button', { name: /^Show\s*notes\.csv\s*Table · 8 B$/ }).waitFor()
  await row.getByRole('button', { name: /^Show\s*report\.pdf\s*PDF/ }).waitFor()
  await row.getByRole('link', { name: 'Download report.pdf' }).waitFor()
  await hers.getByRole('list', { name: 'Files to send' }).waitFor({ state: 'detached' })
})

test('L4: a click enlarges a picture, arrow keys show the next one, and Escape returns to the message', async () => {
  const files = await Promise.all(['first.png', 'second.png'].map((name) => omar!.client.files.upload(space.id, new Blob([new Uint8Array(png(900, 700))]), { name })))
  await omar!.client.messages.post(space.id, { text: '', files: files.map((file) => file.id) })
  const page = await app.open(lina!, at())
  await page.getByRole('button', { name: 'Enlarge first.png' }).click()
  const dialog = page.getByRole('dialog', { name: 'first.png' })
  await dialog.getByText('900 × 700').waitFor()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('dialog', { name: 'second.png' }).getByText('2 of 2').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('button', { name: 'Enlarge first.png' }).evaluate((button) => button === document.activeElement)).toBe(true)
})

test('L4: pasted and dropped files are attached, and pasted text stays text', async () => {
  const page = await app.open(lina!, at())
  const pasted = await transfer(page, { name: 'pasted.txt', type: 'text/plain', content: 'from the clipboard' })
  await composer(page).evaluate((box, clipboardData) => box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })), pasted)
  await uploaded(page, 'pasted.txt')
  const dropped = await transfer(page, { name: 'dropped.txt', type: 'text/plain', content: 'from the desktop' })
  const timeline = page.locator('section[aria-labelledby="space-name"]')
  await timeline.dispatchEvent('dragenter', { dataTransfer: dropped })
  await page.getByText('Drop files to attach them').waitFor()
  await timeline.dispatchEvent('drop', { dataTransfer: dropped })
  // A file that misses its goal does not replace the page.
  expect(await page.getByRole('navigation', { name: 'Spaces' }).evaluate((box, dataTransfer) => box.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })), dropped)).toBe(false)
  await page.getByText('Drop files to attach them').waitFor({ state: 'detached' })
  await uploaded(page, 'dropped.txt')
  // Office programs put a picture beside the text.
  const prevented = await composer(page).evaluate((box) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'a cell')
    clipboardData.items.add(new File(['x'], 'cell.png', { type: 'image/png' }))
    return !box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  expect(prevented).toBe(false)
  await sendButton(page).click()
  await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages.map((each) => each.files?.map((file) => file.name))).toEqual([['pasted.txt', 'dropped.txt']])
})

test('L4: an upload shows its progress and can be canceled', async () => {
  const page = await app.open(lina!, at())
  await composer(page).fill('with a film')
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 })
  await choose(page, { name: 'film.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(2_500_000, 7) })
  const bar = page.getByRole('progressbar', { name: 'Upload of film.bin' })
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0)
  expect(await sendButton(page).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Cancel upload of film.bin' }).click()
  await waiting(page, 'film.bin').waitFor({ state: 'detached' })
  await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 })
  await sendButton(page).click()
  await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages.map((each) => each.files ?? [])).toEqual([[]])
})

test('L4: a failed upload says why, and Retry uploads it', async () => {
  const page = await app.open(lina!, at())
  await composer(page).waitFor()
  await page.route('**/api/spaces/*/files', (route) => route.abort())
  await choose(page, text('plan.md', '# Plan'))
  await waiting(page, 'plan.md').getByRole('alert').getByText('Can’t reach Majlis').waitFor()
  await page.unroute('**/api/spaces/*/files')
  await waiting(page, 'plan.md').getByRole('button', { name: 'Retry' }).click()
  await uploaded(page, 'plan.md')
})

test('L4: a file that the server refuses stays with its reason', async () => {
  const page = await app.open(lina!, at())
  await choose(page, text('large.txt', 'x'.repeat(3_000_001)))
  await waiting(page, 'large.txt').getByRole('alert').getByText('The file is too large').waitFor()
  await page.getByRole('button', { name: 'Remove large.txt' }).click()
  await waiting(page, 'large.txt').waitFor({ state: 'detached' })
})

test('L4: the files of a draft survive a reload and a look at another space', async () => {
  const other = await app.space('Elsewhere', [lina!])
  const page = await app.open(lina!, at())
  await choose(page, text('draft.txt', 'later'))
  await uploaded(page, 'draft.txt')
  await spaceRow(page, 'Elsewhere').click()
  await page.getByRole('textbox', { name: 'Message Elsewhere' }).waitFor()
  await waiting(page, 'draft.txt').waitFor({ state: 'detached' })
  await spaceRow(page, 'Project Alpha').first().getByText('draft.txt').waitFor()
  await page.goto(at())
  await uploaded(page, 'draft.txt')
  await sendButton(page).click()
  await message(page, 'draft.txt').waitFor()
  await app.owner.client.spaces.delete(other.id)
})

test('L4: a message with files that was not sent keeps them, and Edit puts them back into the draft', async () => {
  const page = await app.open(lina!, at())
  await choose(page, text('kept.txt', 'keep me'))
  await uploaded(page, 'kept.txt')
  await page.route('**/api/spaces/*/messages', (route) => (route.request().method() === 'POST' ? route.fulfill({ status: 422, json: { error: { code: 'x', message: 'No.' } } }) : route.continue()))
  await sendButton(page).click()
  const row = message(page, 'Not sent: No.')
  await row.getByRole('link', { name: /^Download kept.txt/ }).waitFor()
  await page.reload()
  await row.getByRole('link', { name: /^Download kept.txt/ }).waitFor()
  await row.getByRole('button', { name: 'Edit' }).click()
  await uploaded(page, 'kept.txt')
  await page.unroute('**/api/spaces/*/messages')
  await sendButton(page).click()
  await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages.map((each) => each.files?.[0]?.name)).toEqual(['kept.txt'])
})

test('L4: the side panel lists the files of the space, with pictures to enlarge and the message of each file', async () => {
  const upload = (name: string, content: Buffer) => omar!.client.files.upload(space.id, new Blob([new Uint8Array(content)]), { name })
  const files = [await upload('view.png', png(300, 200)), await upload('old.txt', Buffer.from('x'))]
  const carrier = await omar!.client.messages.post(space.id, { text: 'Two files', files: files.map((file) => file.id) })
  const page = await app.open(lina!, at())
  await page.getByRole('button', { name: 'Open inspector' }).click()
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Files', exact: true }).click()
  await panel.getByRole('link', { name: /^Download old.txt/ }).waitFor()
  await panel.getByRole('button', { name: 'Enlarge view.png' }).click()
  await page.getByRole('dialog', { name: 'view.png' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // A new file appears, and a deleted one goes.
  await omar!.client.messages.post(space.id, { text: '', files: [(await upload('new.txt', Buffer.from('y'))).id] })
  await panel.getByRole('link', { name: /^Download new.txt/ }).waitFor()
  await panel.getByRole('listitem').filter({ hasText: 'old.txt' }).getByRole('link', { name: /^From Omar/ }).click()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`${at()}/messages/${carrier.id}`)
  await panel.getByRole('link', { name: /^Download new.txt/ }).waitFor()
})

test('L4: nothing uploaded is shown or run as a page of ours', async () => {
  const script = '<script>document.title = "pwned"</script>'
  const hostile = [text('page.html', `<!doctype html>${script}`, 'text/html'), text('drawing.svg', `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, 'image/svg+xml'), text('fake.png', `<!doctype html>${script}`, 'image/png')]
  const page = await app.open(lina!, at())
  await choose(page, ...hostile)
  for (const { name } of hostile) await uploaded(page, name)
  await sendButton(page).click()
  const row = page.getByRole('article').filter({ hasText: 'page.html' })
  for (const { name } of hostile) {
    const link = row.getByRole('link', { name: new RegExp(`^Download ${name}`) })
    // Also when it is opened as a page.
    const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate((href) => void (location.href = href), (await link.getAttribute('href'))!)])
    expect(download.suggestedFilename()).toBe(name)
  }
  expect(await row.getByRole('img').count()).toBe(0)
  expect(await page.title()).toContain('Project Alpha')
})
