/** The installed app: its manifest, its page for a lost server, notifications and quiet hours. */
import type { BrowserContext, Page, Worker } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let lina: Person
beforeAll(async () => {
  app = await TestApp.start()
  lina = await app.person('Lina')
})
afterAll(() => app.close())
afterEach(() => app.closePages())

const WITH_WORKER = { serviceWorkers: 'allow' } as const

async function installed(context: BrowserContext, page: Page): Promise<Worker> {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
  return context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker')
}

test('the app can be installed: its manifest has a name, a start page and icons of every kind', async () => {
  const page = await app.open(lina, '/')
  const address = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = (await (await page.request.get(address!)).json()) as { name: string; start_url: string; display: string; icons: { src: string; type: string; sizes: string; purpose?: string }[] }
  expect(manifest).toMatchObject({ name: 'Majlis', start_url: '/', display: 'standalone' })
  expect(manifest.icons.map((icon) => icon.sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']))
  expect(manifest.icons.some((icon) => icon.purpose === 'maskable')).toBe(true)
  for (const { src, type, sizes } of manifest.icons) {
    const answer = await page.request.get(src)
    expect(answer.headers()['content-type']).toContain(type)
    const shown = await page.evaluate(async (path) => {
      const picture = new Image()
      picture.src = path
      await picture.decode()
      return `${picture.naturalWidth}x${picture.naturalHeight}`
    }, src)
    if (sizes !== 'any') expect(shown).toBe(sizes)
  }
})

test('while the server is away the installed app says so, and opens when it is back; no data and no old app are stored', async () => {
  const space = await app.space('Harbor', [lina])
  const page = await app.open(lina, `/spaces/${space.id}`, WITH_WORKER)
  await composer(page).waitFor()
  await installed(page.context(), page)
  const stored = () => page.evaluate(async () => (await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map((request) => new URL(request.url).pathname)))).flat())
  const paths = await stored()
  expect(paths).toContain('/offline')
  expect(paths.filter((path) => path !== '/offline' && !path.startsWith('/page/'))).toEqual([])
  await app.gateway.kill()
  await page.goto(`/spaces/${space.id}`)
  await page.getByRole('heading', { name: 'Can’t reach Majlis' }).waitFor()
  await app.gateway.start()
  // It asks again by itself, and the page is the one that was wanted.
  await composer(page).waitFor()
  expect(await stored()).toEqual(paths)
  app.pageErrors.length = 0
})

test('the profile menu installs the app if the browser offers it', async () => {
  const page = await app.open(lina, '/')
  const menu = page.getByRole('button', { name: /account menu/ })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await page.getByRole('menuitem', { name: 'Install app' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  await page.evaluate(() => dispatchEvent(Object.assign(new Event('beforeinstallprompt'), { prompt: () => (document.title = 'Asked') })))
  await menu.click()
  await page.getByRole('menuitem', { name: 'Install app' }).click()
  await expect.poll(() => page.title()).toBe('Asked')
})

/** Looks away from the page: pages of the test browser always have the focus. */
const lookAway = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.hasFocus = () => false
    dispatchEvent(new Event('blur'))
  })

/** Keeps the titles and texts of notifications and counts the tones, since the test browser shows and plays nothing. */
const record = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const [seen, bodies] = [{ shown: [] as string[], tones: 0 }, [] as unknown[]]
    Object.assign(window, { seen, bodies })
    window.Notification = class {
      static permission = 'granted'
      constructor(title: string, options?: NotificationOptions) {
        seen.shown.push(title)
        bodies.push(options?.body)
      }
    } as unknown as typeof Notification
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...when) {
      seen.tones++
      return start.apply(this, when)
    }
  })
const seen = (page: Page): Promise<{ shown: string[]; tones: number }> => page.evaluate(() => (window as unknown as { seen: { shown: string[]; tones: number } }).seen)

async function openRecorded(person: Person, path: string): Promise<Page> {
  const page = await app.open(person, '/page/icon.svg')
  await record(page)
  await page.goto(path)
  await composer(page).waitFor()
  return page
}

test('each space notifies of all messages, mentions, decisions or nothing', async () => {
  const nour = await app.person('Nour')
  const asking = await app.agent('Hakim', { tools: [{ name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' }] })
  const levels = ['All messages', 'Mentions and decisions', 'Decisions only', 'None'] as const
  const spaces = await Promise.all(levels.map((level) => app.space(level, [nour, asking], { triggers: 'mentioned' })))
  const page = await openRecorded(nour, `/spaces/${spaces[0]!.id}`)
  for (const [n, level] of levels.entries()) {
    await page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name: new RegExp(`^${level}`) }).click()
    await page.getByRole('heading', { name: level }).waitFor()
    await page.getByRole('button', { name: 'Space options' }).click()
    await page.getByRole('menuitemradio', { name: levels[n]! }).click()
  }
  await lookAway(page)
  for (const space of spaces) {
    await app.owner.client.messages.post(space.id, { text: 'plain' })
    await app.owner.client.messages.post(space.id, { text: '@Nour look' })
  }
  await app.owner.client.messages.post(spaces[2]!.id, { text: '@Hakim approve: May I?', mentions: [asking.id] })
  const wanted = ['Owner · All messages', 'Owner · All messages', 'Owner · Mentions and decisions', 'Hakim · Decisions only']
  await expect.poll(async () => (await seen(page)).shown).toEqual(wanted)
})

test('calls of visible tools cause no notification', async () => {
  const maya = await app.person('Maya')
  const space = await app.space('Tools', [maya])
  const advisor = await app.agent('Advisor', { tools: [{ name: 'advise', type: 'static', visible: true, description: 'Advises.', inputSchema: { type: 'object', properties: {} }, execution: { output: 'sleep on it' } }] })
  await app.owner.client.spaces.add(space.id, { entityId: advisor.id, role: 'member' })
  await maya.client.preferences.change({ notify: { [space.id]: 'all' } })
  const page = await openRecorded(maya, `/spaces/${space.id}`)
  await lookAway(page)
  await app.owner.client.messages.post(space.id, { text: 'use: advise', mentions: [advisor.id] })
  await page.locator('summary', { hasText: 'advise' }).filter({ hasText: 'done' }).waitFor()
  await app.owner.client.messages.post(space.id, { text: 'the last' })
  const bodies = () => page.evaluate(() => (window as unknown as { bodies: string[] }).bodies)
  await expect.poll(bodies).toContain('the last')
  expect(await bodies()).not.toContain('')
})

test('quiet hours hold notifications and the sound back, in all tabs', async () => {
  const sami = await app.person('Sami')
  const space = await app.space('Night', [sami])
  const page = await openRecorded(sami, `/spaces/${space.id}`)
  const openProfile = async () => {
    await page.getByRole('button', { name: /account menu/ }).click()
    await page.getByRole('menuitem', { name: 'Your profile' }).click()
  }
  await openProfile()
  await page.getByRole('checkbox', { name: 'Play a sound' }).check()
  // The choice can be heard.
  await expect.poll(async () => (await seen(page)).tones).toBe(2)
  await page.getByRole('checkbox', { name: 'Quiet hours' }).check()
  await page.getByLabel('from', { exact: true }).fill('00:00')
  await page.getByLabel('to', { exact: true }).fill('23:59')
  // Not in the last minute of the day, which is not quiet.
  await page.clock.setFixedTime(new Date(2026, 10, 19, 12))
  await page.keyboard.press('Escape')
  await lookAway(page)
  await app.owner.client.messages.post(space.id, { text: '@Sami in the night' })
  await page.getByRole('navigation', { name: 'Spaces' }).getByText('in the night').waitFor()
  const other = await app.openTab(page.context())
  await other.goto('/')
  await other.evaluate((me) => {
    const key = `majlis.spaces.${me}`
    localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)!), quiet: null }))
  }, sami.id)
  await lookAway(other)
  await app.owner.client.messages.post(space.id, { text: '@Sami in the morning' })
  await expect.poll(() => seen(page)).toEqual({ shown: ['Owner · Night'], tones: 4 })
})

test('only one tab notifies, and none while the user looks at another', async () => {
  const huda = await app.person('Huda')
  const space = await app.space('Twice', [huda])
  const first = await openRecorded(huda, `/spaces/${space.id}`)
  const second = await app.openTab(first.context())
  await record(second)
  await second.goto(`/spaces/${space.id}`)
  await composer(second).waitFor()
  await lookAway(first)
  await app.owner.client.messages.post(space.id, { text: '@Huda while you look' })
  await message(first, 'while you look').waitFor()
  await lookAway(second)
  await expect.poll(() => first.evaluate(async () => (await navigator.locks.query()).held!.map((lock) => lock.name))).toEqual(['majlis.shows-notifications'])
  await app.owner.client.messages.post(space.id, { text: '@Huda while you are away' })
  await message(second, 'while you are away').waitFor()
  await expect.poll(async () => (await seen(first)).shown).toEqual(['Owner · Twice'])
  expect((await seen(second)).shown).toEqual([])
})

test('a click on a notification opens its message', async () => {
  const space = await app.space('Clicked', [lina])
  const { id } = await app.owner.client.messages.post(space.id, { text: 'the one' })
  const page = await app.open(lina, '/', WITH_WORKER)
  const worker = await installed(page.context(), page)
  await page.getByRole('navigation', { name: 'Spaces' }).getByText('the one').waitFor()
  await worker.evaluate((path) => {
    const notification = { close: () => {}, data: { path } }
    dispatchEvent(Object.assign(new Event('notificationclick'), { notification, waitUntil: () => {} }))
  }, `/spaces/${space.id}/messages/${id}`)
  await message(page, 'the one').waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/spaces/${space.id}/messages/${id}`)
})

interface Shown { title: string; body: string; tag: string; path: string; renotify: boolean }

/** Keeps what the service worker shows: the test browser allows no notifications. */
async function recordWorker(worker: Worker): Promise<() => Promise<Shown[]>> {
  await worker.evaluate(() => {
    const shown: unknown[] = []
    Object.assign(self, { shown })
    ServiceWorkerRegistration.prototype.showNotification = (title, { body, tag, data, renotify }: NotificationOptions & { renotify?: boolean } = {}) => Promise.resolve(void shown.push({ title, body, tag, path: (data as { path: string }).path, renotify }))
  })
  return () => worker.evaluate(() => (self as unknown as { shown: Shown[] }).shown)
}

/** Gives pushes to the service worker, as the browser does it when its push service has something. */
async function pushesTo(page: Page): Promise<(pushed: Omit<Shown, 'renotify'>) => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && resolve(registrations[0].registrationId))
  })
  await session.send('ServiceWorker.enable')
  return async (pushed) => {
    await session.send('ServiceWorker.deliverPushMessage', { origin: app.gateway.url, registrationId: await registered, data: JSON.stringify(pushed) })
  }
}

const looked = (worker: Worker): Promise<boolean> =>
  worker.evaluate(async () => (await (self as unknown as { clients: { matchAll: (options: object) => Promise<{ focused: boolean; visibilityState: string }[]> } }).clients.matchAll({ type: 'window' })).some((each) => each.focused && each.visibilityState === 'visible'))

test('a push is shown unless the user looks at the app', async () => {
  const rami = await app.person('Rami')
  const space = await app.space('Pushed', [rami])
  const page = await app.open(rami, `/spaces/${space.id}`, WITH_WORKER)
  const worker = await installed(page.context(), page)
  const shown = await recordWorker(worker)
  const push = await pushesTo(page)
  const pushed = { title: 'Owner · Pushed', body: 'while you look', tag: space.id, path: `/spaces/${space.id}` }
  await page.bringToFront()
  await expect.poll(() => looked(worker)).toBe(true)
  await push(pushed)
  await page.goto('about:blank')
  await expect.poll(() => looked(worker)).toBe(false)
  await push({ ...pushed, body: 'while you are away' })
  await expect.poll(shown).toEqual([{ ...pushed, body: 'while you are away', renotify: true }])
})

test('a push of a message that a tab has shown is not shown again, and the next message is heard', async () => {
  const zain = await app.person('Zain')
  const space = await app.space('Once', [zain])
  const page = await app.open(zain, '/page/icon.svg', WITH_WORKER)
  await record(page)
  await page.goto(`/spaces/${space.id}`)
  await composer(page).waitFor()
  const worker = await installed(page.context(), page)
  const shown = await recordWorker(worker)
  const push = await pushesTo(page)
  const pushed = async (body: string) => {
    const { id } = await app.owner.client.messages.post(space.id, { text: body })
    return { title: 'Owner · Once', body, tag: space.id, path: `/spaces/${space.id}/messages/${id}` }
  }
  await lookAway(page)
  const first = await pushed('@Zain first')
  await expect.poll(shown).toEqual([{ ...first, renotify: true }])
  await page.goto('about:blank')
  await expect.poll(() => looked(worker)).toBe(false)
  await push(first)
  const second = await pushed('@Zain second')
  await push(second)
  await expect.poll(shown).toEqual([{ ...first, renotify: true }, { ...second, renotify: true }])
})

test('a browser subscribes with the keys of its push service, and no longer when it is chosen away', async () => {
  const dana = await app.person('Dana')
  await app.space('Subscribed', [dana])
  const page = await app.open(dana, '/page/icon.svg', WITH_WORKER)
  await record(page)
  // The test browser has no push service.
  await page.addInitScript(() => {
    let made: unknown = null
    const keys = { p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4', auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
    const endpoint = 'https://8.8.8.8/push/dana'
    Object.assign(PushManager.prototype, {
      subscribe: ({ applicationServerKey }: { applicationServerKey: string }) => {
        made = { endpoint, toJSON: () => ({ endpoint, keys }), unsubscribe: () => Promise.resolve((made = null) === null) }
        Object.assign(window, { applicationServerKey })
        return Promise.resolve(made)
      },
      getSubscription: () => Promise.resolve(made),
    })
  })
  await page.goto('/')
  await composer(page).waitFor()
  const browsers = async () => (await dana.client.push.get()).browsers
  await page.getByRole('button', { name: /account menu/ }).click()
  await page.getByRole('menuitem', { name: 'Your profile' }).click()
  const choice = page.getByRole('checkbox', { name: 'Notify this browser while Majlis is closed' })
  await choice.check()
  await expect.poll(browsers).toBe(1)
  expect(await page.evaluate(() => (window as unknown as { applicationServerKey: string }).applicationServerKey)).toBe((await dana.client.push.get()).publicKey)
  await expect.poll(() => choice.isEnabled()).toBe(true)
  await choice.uncheck()
  await expect.poll(browsers).toBe(0)
})
