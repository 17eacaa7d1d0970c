/** Previews of files (L4): what is shown in the timeline and in the viewer, and that hostile files run nowhere. */
import type { Space } from '@majlis/client'
import type { Locator, Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { pdf, wav, webm } from './harness/media.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let lina: Person
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  lina = await app.person('Lina')
})
afterAll(() => app.close())
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

const open = () => app.open(lina, `/spaces/${space.id}`)

async function post(name: string, content: Buffer | string): Promise<void> {
  const file = await lina.client.files.upload(space.id, new Blob([new Uint8Array(Buffer.from(content))]), { name })
  await lina.client.messages.post(space.id, { text: `See ${name}`, files: [file.id] })
}

async function show(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: new RegExp(`^Show\\s*${name.replace('.', '\\.')}`) }).click()
  return page.getByRole('dialog', { name })
}

test('L4: the timeline shows the beginning of a text, and a click all of it, as code with its colors', async () => {
  await post('scout.py', `def scout(place: str) -> str:\n    return "gone to " + place\n${'# more\n'.repeat(40)}# the end\n`)
  const page = await open()
  const card = page.getByRole('listitem').filter({ hasText: 'scout.py' }).last()
  await card.getByText('def scout(place').waitFor()
  await card.getByRole('link', { name: 'Download scout.py' }).waitFor()
  const dialog = await show(page, 'scout.py')
  await dialog.getByText('# the end').waitFor()
  await expect.poll(() => dialog.locator('.hljs-keyword').count()).toBeGreaterThan(1)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('L4: Markdown is formatted, and a table of CSV has a head and its cells, whatever separates them', async () => {
  await post('plan.md', '# The plan\n\n- **first** step\n')
  await post('sales.csv', 'Town;Sales\r\n"Cairo; east";1200\r\nمكة;300\r\n')
  const page = await open()
  const plan = await show(page, 'plan.md')
  await plan.getByRole('heading', { name: 'The plan' }).waitFor()
  expect(await plan.locator('strong').textContent()).toBe('first')
  await page.keyboard.press('Escape')
  const sales = await show(page, 'sales.csv')
  await sales.getByRole('columnheader', { name: 'Sales' }).waitFor()
  expect(await sales.getByRole('cell').allTextContents()).toEqual(['Cairo; east', '1200', 'مكة', '300'])
})

test('L4: only the beginning of a long text is loaded, and the viewer says so', async () => {
  await post('log.txt', `${'line after line after line\n'.repeat(20_000)}the very end`)
  const page = await open()
  const lengths: string[] = []
  page.on('response', (response) => response.url().includes('/api/files/') && lengths.push(response.headers()['content-length'] ?? ''))
  const dialog = await show(page, 'log.txt')
  await dialog.getByText('This is the first 256 kB of the file').waitFor()
  expect(lengths).toContain('256000')
  expect(Math.max(...lengths.map(Number))).toBe(256_000)
})

test('L4: the pages of a PDF are drawn when they come near, with words that can be selected', async () => {
  await post('report.pdf', pdf(Array.from({ length: 30 }, (_, n) => `Page number ${n + 1}`)))
  const page = await open()
  const dialog = await show(page, 'report.pdf')
  await dialog.getByText('Page number 1', { exact: true }).waitFor()
  await dialog.getByText('30 pages').waitFor()
  const first = dialog.getByRole('listitem', { name: 'Page 1', exact: true }).locator('canvas')
  await expect.poll(() => isPainted(first)).toBe(true)
  expect(await dialog.locator('canvas').count()).toBeLessThan(6)
  await dialog.getByRole('listitem', { name: 'Page 30' }).scrollIntoViewIfNeeded()
  await dialog.getByText('Page number 30').waitFor()
  // Pages that are far away are let go.
  await expect.poll(() => first.count()).toBe(0)
  const width = async () => (await dialog.getByRole('listitem', { name: 'Page 30' }).boundingBox())!.width
  const before = await width()
  await dialog.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(width).toBeGreaterThan(1.4 * before)
})

/** The bar below the text. */
const isPainted = (canvas: Locator): Promise<boolean> =>
  canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement
    const [red, green] = (element as HTMLCanvasElement).getContext('2d')!.getImageData(width * 0.3, height * 0.27, 1, 1).data
    return red! > 140 && green! < 90
  })

test('L4: sound and films play in the message, and are loaded in ranges', async () => {
  const page = await open()
  await post('film.webm', await webm(page))
  await post('tone.wav', wav(2))
  const ranges: Request[] = []
  page.on('request', (request) => request.headers()['range'] && ranges.push(request))
  const film = page.locator('video[aria-label="film.webm"]')
  await expect.poll(() => film.evaluate((video) => (video as HTMLVideoElement).videoWidth)).toBe(160)
  const tone = page.locator('audio[aria-label="tone.wav"]')
  await tone.waitFor()
  expect(await tone.evaluate((audio) => (audio as HTMLAudioElement).networkState)).not.toBe(2)
  await tone.evaluate((audio) => (audio as HTMLAudioElement).load())
  await tone.evaluate((audio) => (audio as HTMLAudioElement).play())
  await expect.poll(() => tone.evaluate((audio) => Math.round((audio as HTMLAudioElement).duration))).toBe(2)
  await expect.poll(() => ranges.length).toBeGreaterThan(0)
})

test('L4: a file that is not what it says is a message and a download', async () => {
  await post('fake.pdf', '%PDF-1.7\n<script>document.title = "pwned"</script>')
  await post('silent.wav', Buffer.concat([wav(1).subarray(0, 12), Buffer.from('no sound at all')]))
  const page = await open()
  const dialog = await show(page, 'fake.pdf')
  await dialog.getByRole('alert').getByText('The file cannot be shown').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('link', { name: 'Download' }).click()])
  expect(download.suggestedFilename()).toBe('fake.pdf')
  await page.keyboard.press('Escape')
  const sound = await show(page, 'silent.wav')
  await sound.getByText('This browser cannot play the file').waitFor()
})

test('L4: previews run nothing: markup and drawings are shown as their source, and scripts of a PDF are ignored', async () => {
  const script = '<script>document.title = "pwned"</script><img src=x onerror="document.title=\'pwned\'">'
  await post('notes.txt', `<!doctype html>${script}`)
  await post('drawing.svg', `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='pwned'">${script}</svg>`)
  await post('readme.md', `# Hello\n\n${script}\n\n[a link](javascript:document.title='pwned') ![a picture](https://tracker.example/p.png)\n`)
  await post('table.csv', `a,b\n${script},=HYPERLINK("https://evil.example")\n`)
  await post('scripted.pdf', pdf(['Harmless'], { scripts: true }))
  const page = await open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).host))
  page.on('dialog', () => app.pageErrors.push('a dialog of the browser'))
  for (const name of ['notes.txt', 'drawing.svg', 'readme.md', 'table.csv']) {
    const dialog = await show(page, name)
    await dialog.getByText('document.title').first().waitFor()
    expect(await dialog.locator('script, img, iframe, object, svg[onload], a[href^="javascript:"]').count(), name).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  const dialog = await show(page, 'scripted.pdf')
  await dialog.getByText('Harmless').waitFor()
  expect(await page.title()).toContain('Project Alpha')
  expect(new Set(asked)).toEqual(new Set([new URL(page.url()).host]))
})

test('L4: the gallery opens files, and a file of a deleted message says why it is not shown', async () => {
  await post('gone.txt', 'short-lived')
  const page = await open()
  await page.getByRole('button', { name: 'Open inspector' }).click()
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Files', exact: true }).click()
  await panel.getByRole('button', { name: /^Show\s*gone\.txt/ }).click()
  await page.getByRole('dialog', { name: 'gone.txt' }).getByText('short-lived').waitFor()
  await page.keyboard.press('Escape')
  await page.route('**/api/files/*', (route) => route.fulfill({ status: 404, json: { error: { code: 'unknown_file', message: 'There is no such file.' } } }))
  await panel.getByRole('button', { name: /^Show\s*gone\.txt/ }).click()
  await page.getByRole('dialog', { name: 'gone.txt' }).getByRole('alert').getByText('There is no such file').waitFor()
})
