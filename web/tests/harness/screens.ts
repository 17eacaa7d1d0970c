/** Every screen of the app with realistic data: for screenshots, and for checks that look at all of them. */
import type { Space } from '@majlis/client'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { vi } from 'vitest'

import arabic from '../../app/src/language/ar/index.ts'
import { setLanguage, type Language } from '../../app/src/language/language.ts'
import { t } from '../../app/src/language/words.ts'
import { composer } from './locators.ts'
import { pdf, wav } from './media.ts'
import { png } from './png.ts'
import { cards, sampleData, type SampleData } from './sampleData.ts'
import type { Person, TestApp } from './testApp.ts'

export interface Scene extends SampleData {
  cardsId: string
  files: Space
  arabic: Space
  answer: string
  plan: string
  report: string
  empty: Space
  service: string
  invite: string
}

export interface Screen {
  name: string
  path: (scene: Scene) => string
  /** Resolves when the screen is there. */
  ready: (page: Page, scene: Scene) => Promise<unknown>
}

export interface Look {
  name: string
  language: Language
  options: BrowserContextOptions
}

const LOCALES: Record<Language, string> = { en: 'en-US', ar: 'ar-EG' }
const SIZES = { 1440: { width: 1440, height: 900 }, 1024: { width: 1024, height: 768 }, 390: { width: 390, height: 844 } } as const

/** Each language in light and dark, at three widths. */
export const LOOKS: readonly Look[] = (['en', 'ar'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1440, 1024, 390].map((width) => ({
      name: `${language} ${colorScheme} ${width}`,
      language,
      options: {
        colorScheme, locale: LOCALES[language], reducedMotion: 'reduce', viewport: SIZES[width as keyof typeof SIZES],
        ...(width === 390 ? { hasTouch: true, isMobile: true } : {}),
      } satisfies BrowserContextOptions,
    })),
  ),
)

/** After this, `t` gives the texts that pages in this language show. */
export const speak = (language: Language): void => setLanguage(language, language === 'ar' ? arabic : {}, LOCALES[language])

const inMain = (page: Page) => page.getByRole('main')
const panel = (page: Page) => page.getByRole('complementary')
const open = (page: Page, button: string) => page.getByRole('button', { name: button }).first().click()
const heading = (page: Page) => inMain(page).getByRole('heading').first().waitFor()
const row = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text })

/** Shows the actions of a message. Without a mouse, a tap does. */
async function point(page: Page, text: string): Promise<void> {
  await row(page, text).hover()
  if (await page.evaluate(() => matchMedia('(hover: none)').matches)) await row(page, text).tap()
}

async function menuOf(page: Page, text: string, entry?: string): Promise<void> {
  await point(page, text)
  await row(page, text).getByRole('button', { name: t('More actions') }).click()
  await page.getByRole('menu').waitFor()
  if (entry) await page.getByRole('menuitem', { name: entry }).click()
}

async function account(page: Page, entry?: string): Promise<void> {
  await page.getByRole('button', { name: t(', account menu') }).click()
  await page.getByRole('menu').waitFor()
  if (entry) await page.getByRole('menuitem', { name: entry }).click()
}

const space = ({ project }: Scene) => `/spaces/${project.id}`
const inspecting = (what: string) => (scene: Scene) => `${space(scene)}?inspect=${what}`
const editing = ({ ada }: Scene) => `/admin/agents/${ada.id}`
const tab = (name: string) => async (page: Page) => {
  await page.getByRole('tab', { name: t(name) }).click()
  await page.getByRole('tabpanel').waitFor()
}

const admin = (section: string): Screen => ({ name: `admin-${section}`, path: () => `/admin/${section}`, ready: (page) => inMain(page).getByText(t('No backup yet. Run majlis backup where Majlis runs.')).waitFor() })

export const SCREENS: readonly Screen[] = [
  { name: 'home', path: () => '/', ready: (page) => page.getByText(t('First steps')).or(page.getByText(t('Create an agent'))).first().waitFor({ state: 'attached' }) },
  { name: 'space', path: space, ready: (page) => row(page, 'the checks are written').waitFor() },
  { name: 'space-arabic', path: ({ arabic: there }) => `/spaces/${there.id}`, ready: (page) => row(page, 'See you on Thursday').waitFor() },
  { name: 'cards', path: ({ cardsId }) => `/spaces/${cardsId}`, ready: (page) => page.getByRole('button', { name: t('Approve') }).waitFor() },
  { name: 'files', path: ({ files }) => `/spaces/${files.id}`, ready: (page) => page.getByText('sales.csv').first().waitFor() },
  { name: 'empty', path: ({ empty }) => `/spaces/${empty.id}`, ready: (page) => composer(page).or(page.getByRole('textbox')).first().waitFor() },
  { name: 'runs', path: inspecting('runs'), ready: (page) => panel(page).getByRole('button', { name: /Scout/ }).first().waitFor() },
  {
    name: 'run', path: inspecting('runs'), ready: async (page) => {
      await panel(page).getByRole('button', { name: /Scout/ }).first().click()
      await page.getByRole('button', { name: t('Show prompt') }).click()
      await page.getByText('SPACE HISTORY').first().click()
    },
  },
  { name: 'members', path: inspecting('members'), ready: (page) => panel(page).getByText(t('Idle')).first().waitFor() },
  { name: 'member', path: (scene) => inspecting(scene.ada.id)(scene), ready: (page) => page.getByText(t('No memories')).waitFor() },
  { name: 'settings', path: inspecting('settings'), ready: (page) => panel(page).getByText(t('Which agents respond')).waitFor() },
  { name: 'pins', path: inspecting('pins'), ready: (page) => panel(page).getByText('Lina').first().waitFor() },
  { name: 'gallery', path: ({ files }) => `/spaces/${files.id}?inspect=files`, ready: (page) => panel(page).getByText('sales.csv').waitFor() },
  { name: 'thread', path: ({ files, report }) => `/spaces/${files.id}?inspect=${report}`, ready: (page) => panel(page).getByText('Thank you').waitFor() },
  {
    name: 'file', path: ({ files }) => `/spaces/${files.id}?inspect=files`, ready: async (page) => {
      await panel(page).getByRole('button', { name: /sales\.csv/ }).first().click()
      await page.getByRole('dialog').getByText('North').waitFor()
    },
  },
  {
    name: 'pdf', path: ({ files }) => `/spaces/${files.id}?inspect=files`, ready: async (page) => {
      await panel(page).getByRole('button', { name: /report\.pdf/ }).first().click()
      await page.getByRole('dialog').locator('canvas').first().waitFor()
    },
  },
  {
    name: 'mention', path: space, ready: async (page) => {
      await page.getByRole('textbox').last().pressSequentially('@')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'commands', path: space, ready: async (page) => {
      await page.getByRole('textbox').last().pressSequentially('/')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'composer', path: space, ready: async (page) => {
      await point(page, 'The docs are ready')
      await row(page, 'The docs are ready').getByRole('button', { name: t('Reply') }).click()
      const formats = page.getByRole('button', { name: t('Show formatting') })
      if (await formats.isVisible()) await formats.click()
      await page.getByRole('textbox').last().fill('I read it on the train.\nThe second part could be shorter.')
    },
  },
  { name: 'emoji', path: space, ready: async (page) => { await open(page, t('Insert emoji')); await page.getByRole('dialog').waitFor() } },
  { name: 'message-menu', path: space, ready: (page) => menuOf(page, 'The docs are ready') },
  { name: 'read-by', path: ({ cardsId }) => `/spaces/${cardsId}`, ready: async (page) => { await menuOf(page, 'approve: May I', t('Read by')); await page.getByRole('dialog').getByText('Iris').waitFor() } },
  { name: 'why', path: space, ready: async (page) => { await menuOf(page, 'the checks are written', t('Why')); await page.getByRole('dialog').getByText('Lina').first().waitFor() } },
  { name: 'space-menu', path: space, ready: async (page) => { await open(page, t('Space options')); await page.getByRole('menu').waitFor() } },
  {
    name: 'switcher', path: space, ready: async (page) => {
      await heading(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: t('Search') }).fill('launch')
      await page.getByRole('option').nth(1).waitFor()
    },
  },
  { name: 'keyboard', path: space, ready: async (page) => { await composer(page).or(page.getByRole('textbox')).first().waitFor(); await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur()); await page.keyboard.press('?'); await page.getByRole('dialog').waitFor() } },
  { name: 'account-menu', path: () => '/', ready: async (page) => { await account(page); await page.getByRole('menuitem', { name: t('Your profile') }).waitFor() } },
  { name: 'profile', path: () => '/', ready: async (page) => { await account(page, t('Your profile')); await page.getByRole('list', { name: t('Tokens, sessions and links') }).waitFor() } },
  { name: 'new-space', path: () => '/', ready: async (page) => { await open(page, t('New space')); await page.getByRole('dialog').getByRole('textbox').first().waitFor() } },
  {
    name: 'invite-dialog', path: inspecting('members'), ready: async (page) => {
      await open(page, t('Invite people'))
      await page.getByRole('dialog').getByRole('button', { name: t('Create link') }).click()
      await page.getByRole('dialog').getByRole('img', { name: t('QR code of the invite') }).waitFor()
    },
  },
  { name: 'admin-people', path: () => '/admin/people', ready: (page) => inMain(page).getByRole('link', { name: /Lina/ }).waitFor() },
  { name: 'admin-person', path: ({ lina }) => `/admin/people/${lina.id}`, ready: (page) => page.getByRole('list', { name: t('Tokens, sessions and links') }).waitFor() },
  {
    name: 'admin-service', path: ({ service }) => `/admin/people/${service}`, ready: async (page) => {
      await page.getByRole('button', { name: t('Create token') }).click()
      await page.getByText(t('Copy this token now. It won’t be shown again.')).waitFor()
    },
  },
  { name: 'admin-agents', path: () => '/admin/agents', ready: (page) => inMain(page).getByRole('link', { name: /Ada/ }).waitFor() },
  ...['Persona', 'Model', 'Limits', 'Memory', 'Behavior', 'Versions', 'JSON'].map((name) => ({ name: `agent-${name.toLowerCase()}`, path: editing, ready: tab(name) })),
  {
    name: 'agent-tools', path: editing, ready: async (page) => {
      await tab('Tools')(page)
      await page.getByRole('button', { name: t('Add rule') }).click()
      await page.getByRole('textbox', { name: t('Tools for rule {n}', { n: 1 }) }).fill('deploy')
    },
  },
  {
    name: 'agent-prompt', path: editing, ready: async (page) => {
      await page.getByRole('button', { name: t('Show prompt') }).click()
      await page.getByText('SPACE HISTORY').first().click()
      await page.getByText('SPACE HISTORY').first().scrollIntoViewIfNeeded()
    },
  },
  ...['models', 'spaces', 'secrets', 'usage', 'webhooks', 'audit'].map(admin),
  { name: 'no-access', path: () => '/spaces/spc_0000000000000000', ready: (page) => page.getByText(t('You don’t have access to this space')).waitFor() },
  { name: 'not-found', path: () => '/admin/bogus', ready: (page) => page.getByText(t('Page not found')).waitFor() },
]

/** Pages of the server, without a session. */
export const SIGNED_OUT: readonly { name: string; path: (scene: Scene) => string }[] = [
  { name: 'sign-in', path: () => '/' },
  { name: 'invite', path: ({ invite }) => invite },
  { name: 'invite-expired', path: () => '/invite/mi_0000000000000000000000000000000000000000000' },
  { name: 'link-expired', path: () => '/sign-in/bogus' },
]

export async function makeScene(app: TestApp): Promise<Scene> {
  const made = await sampleData(app)
  const { lina, ada, project } = made
  await app.owner.client.entities.change(lina.id, { role: 'admin' })
  await app.owner.client.spaces.add(project.id, { entityId: lina.id, role: 'admin' })
  const answer = await startedWriting(app, made)
  const pinned = (await lina.client.messages.list(project.id)).messages.find((each) => each.text.includes('Thursday'))!
  await lina.client.messages.pin(pinned.id)
  const cardsId = await cards(app, lina)
  const { files, report } = await filesOf(app, lina)
  const there = await arabicSpace(app, lina, ada)
  const empty = await app.space('Book club', [lina])
  const { id: service } = await app.owner.client.entities.create({ type: 'service', name: 'Build server' })
  const invite = new URL((await app.owner.client.invites.create(project.id)).url).pathname
  return { ...made, cardsId, files, report, arabic: there, answer, plan: pinned.id, empty, service, invite }
}

/** Scout answers, so that there is a run. */
async function startedWriting(app: TestApp, { lina, project, startWriting }: SampleData): Promise<string> {
  await startWriting()
  const answer = async () => {
    app.model.release()
    return (await lina.client.messages.list(project.id)).messages.find((each) => each.text.includes('the checks are written'))?.id
  }
  return vi.waitUntil(answer, { timeout: 60_000 }) as Promise<string>
}

async function filesOf(app: TestApp, lina: Person): Promise<{ files: Space; report: string }> {
  const files = await app.space('Files', [lina])
  const upload = async (name: string, content: Buffer) => (await lina.client.files.upload(files.id, new Blob([new Uint8Array(content)]), { name })).id
  const ids = [await upload('view.png', png(400, 300)), await upload('garden.png', png(300, 300)), await upload('notes.txt', Buffer.from('Bring the seeds.\nWater the roses.')), await upload('report.pdf', pdf(['Report', 'Second page'])), await upload('sales.csv', Buffer.from('Region,Sales\nNorth,1200\nSouth,980\n')), await upload('tone.wav', wav(1)), await upload('an archive with quite a long name, from November 2026.zip', Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0]))]
  const parent = await lina.client.messages.post(files.id, { text: 'Everything for the meeting', files: ids })
  await app.owner.client.messages.post(files.id, { text: 'Thank you', replyTo: parent.id })
  return { files, report: parent.id }
}

const ANSWER = `أهلًا لينا، هذه حالة الإطلاق:

| الجزء | الحالة | العدد |
| --- | --- | --- |
| التوثيق | تم | 1,234,567 |
| صفحة الفواتير | قيد المراجعة | 42 |

1. شغّل الأمر \`npm run build\` أولًا.
2. ثم راجع الملف \`README.md\` في المجلد الرئيسي.

\`\`\`bash
npm run build   # about 40 s
\`\`\`

> تذكير: الموعد يوم الخميس.`

async function arabicSpace(app: TestApp, lina: Person, ada: Person): Promise<Space> {
  const sami = await app.person('سامي الحداد')
  const there = await app.space('مشروع الحديقة', [lina, sami, ada], { triggers: 'mentioned', description: 'كل ما يخص الإطلاق يوم الخميس' })
  const asked = await sami.client.messages.post(there.id, { text: 'صباح الخير! أين وصلنا في الإطلاق يا @Ada؟ رأيت رسالة في Project Alpha عن ذلك.' })
  await ada.client.messages.post(there.id, { text: ANSWER, replyTo: asked.id })
  await lina.client.messages.post(there.id, { text: 'شكرًا، ممتاز 🎉' })
  await lina.client.messages.post(there.id, { text: 'See you on Thursday, then.' })
  return there
}
