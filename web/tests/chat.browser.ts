import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { act, composer, message, messages, send, spaceRow, timeline } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar, ada]: Person[] = []
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
})
afterAll(() => app.close())
let space: Space
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!, ada!])
})
afterEach(async () => {
  await app.closePages()
  await app.owner.client.spaces.delete(space.id)
  expect(app.pageErrors.splice(0)).toEqual([])
})
const at = () => `/spaces/${space.id}`

describe('two people and an agent', () => {
  test('see the text while the agent writes it, and then the stored message', async () => {
    const [hers, his] = await Promise.all([app.open(lina!, at()), app.open(omar!, at())])
    await send(hers, 'hold: One two three four five six seven eight nine ten.')
    for (const page of [hers, his]) await page.locator('[data-stream]').getByText('One two three').waitFor()
    await his.getByRole('list', { name: 'Active agents' }).getByText('Ada is writing').waitFor()
    expect(await his.locator('[data-stream]').innerText()).not.toContain('nine ten')
    app.model.release()
    for (const page of [hers, his]) {
      await messages(page).getByText('nine ten.', { exact: false }).nth(1).waitFor()
      await page.locator('[data-stream]').waitFor({ state: 'detached' })
    }
    // What one of them has not looked at yet is new only there.
    const said = async (page: typeof his) => (await timeline(page)).filter((row) => row !== 'New')
    await expect.poll(() => said(his)).toEqual(await said(hers))
  })

  test('unread messages are counted, marked by a line, and marked as read in all tabs', async () => {
    const other = await app.space('Elsewhere', [lina!, omar!])
    await omar!.client.messages.post(other.id, { text: 'the first' })
    const hers = await app.open(lina!, at())
    const second = await app.openTab(hers.context())
    await second.goto(at())
    for (const page of [hers, second]) await spaceRow(page, 'Elsewhere').getByText('1 unread').waitFor()
    await omar!.client.messages.post(other.id, { text: 'the second' })
    await spaceRow(hers, 'Elsewhere').getByText('2 unread').waitFor()
    await hers.bringToFront()
    await spaceRow(hers, 'Elsewhere').click()
    await message(hers, 'the second').waitFor()
    expect((await timeline(hers)).slice(0, 2)).toEqual(['Today', 'New'])
    await spaceRow(second, 'Elsewhere').getByText('unread').waitFor({ state: 'detached' })
    expect(await timeline(hers)).toContain('New')
    await spaceRow(hers, 'Project Alpha').click()
    await spaceRow(hers, 'Elsewhere').click()
    await message(hers, 'the second').waitFor()
    expect(await timeline(hers)).not.toContain('New')
    await app.owner.client.spaces.delete(other.id)
  })

  test('messages that arrive while the window has no focus stay unread and are marked as new', async () => {
    await omar!.client.messages.post(space.id, { text: 'before lunch' })
    const hers = await app.open(lina!, at())
    await message(hers, 'before lunch').waitFor()
    await expect.poll(async () => (await lina!.client.spaces.get(space.id)).unreadCount).toBe(0)
    // Playwright gives all tabs the focus at once.
    const setFocus = (focused: boolean) =>
      hers.evaluate((value) => {
        document.hasFocus = () => value
        dispatchEvent(new Event(value ? 'focus' : 'blur'))
      }, focused)
    await setFocus(false)
    await omar!.client.messages.post(space.id, { text: 'during lunch' })
    await message(hers, 'during lunch').waitFor()
    await expect.poll(() => hers.title()).toMatch(/^\(1\)/)
    await setFocus(true)
    await expect.poll(async () => (await lina!.client.spaces.get(space.id)).unreadCount).toBe(0)
    const rows = await timeline(hers)
    expect(rows.indexOf('New')).toBe(rows.findIndex((row) => row.includes('during lunch')) - 1)
  })

  test('an agent that waits for a reply is shown as waiting and continues after the reply', async () => {
    const hers = await app.open(lina!, at())
    await send(hers, 'ask: Blue or green?')
    const atWork = hers.getByRole('list', { name: 'Active agents' })
    await atWork.getByText('Ada is waiting for a reply').waitFor()
    await message(hers, 'Blue or green?').last().hover()
    await message(hers, 'Blue or green?').last().getByRole('button', { name: 'Reply' }).click()
    await send(hers, 'green')
    await message(hers, 'green').getByRole('link', { name: /Ada Blue or green/ }).waitFor()
    await atWork.getByText('Ada is waiting for a reply').waitFor({ state: 'detached' })
  })

  test('Stop keeps the text that an agent was writing and says who stopped it', async () => {
    const hers = await app.open(lina!, at())
    await send(hers, 'hold: This will never be said to the very end of it.')
    await hers.locator('[data-stream]').getByText('This will').waitFor()
    await hers.getByRole('button', { name: 'Stop Ada' }).click()
    await hers.locator('[data-stream]').waitFor({ state: 'detached' })
    await message(hers, 'This will').getByText('Stopped by Lina').waitFor()
    await expect.poll(() => messages(hers).count()).toBe(2)
    app.model.release()
  })

  test('Why shows what a message of an agent was sent because of', async () => {
    const hers = await app.open(lina!, at())
    await send(hers, 'say: I was asked to say this.')
    const answer = message(hers, 'I was asked to say this.').last()
    await expect.poll(() => message(hers, 'I was asked to say this.').count()).toBe(2)
    await act(hers, answer, 'Why')
    await hers.getByRole('dialog', { name: 'Why' }).getByText(/Because of the message of Lina in/).waitFor()
  })
})

describe('reading', () => {
  test('tool calls and long messages are collapsed; a tool call shows input, output and duration', async () => {
    const tools = [{ name: 'weather', description: 'Tells the weather.', type: 'static', visible: true, execution: { output: { sky: 'clear' } } }]
    const iris = await app.agent('Iris', { tools })
    await app.owner.client.spaces.add(space.id, { entityId: iris.id, role: 'member' })
    await omar!.client.messages.post(space.id, { text: `A long tale. ${'And then it went on. '.repeat(400)} The end of it.` })
    await omar!.client.messages.post(space.id, { text: 'after the tale' })
    const hers = await app.open(lina!, at())
    const tale = message(hers, 'A long tale')
    await tale.getByRole('button', { name: 'Show more' }).click()
    await tale.getByRole('button', { name: 'Show less' }).waitFor()
    await omar!.client.messages.post(space.id, { text: 'use: weather' })
    await hers.locator('summary', { hasText: 'weather' }).filter({ hasText: 'done' }).click()
    await messages(hers).getByText('"sky": "clear"').waitFor()
    await messages(hers).getByText(/^Took /).waitFor()
    await app.owner.client.agents.delete(iris.id)
  })

  test('the input of a visible tool is shown while the agent writes it', async () => {
    const inputSchema = { type: 'object', properties: { note: { type: 'string' } } }
    const tools = [{ name: 'weather', description: 'Tells the weather.', type: 'static', visible: true, inputSchema, execution: { output: { sky: 'clear' } } }]
    const iris = await app.agent('Iris', { tools })
    await app.owner.client.spaces.add(space.id, { entityId: iris.id, role: 'member' })
    await omar!.client.messages.post(space.id, { text: 'before the tool' })
    const hers = await app.open(lina!, at())
    // The page connects before it loads. Only connected pages get the pieces.
    await message(hers, 'before the tool').waitFor()
    await lina!.client.messages.post(space.id, { text: '@Iris prepare: weather in the town at the sea, on every day of the week' })
    const stream = hers.locator('[data-stream]').filter({ hasText: 'is calling a tool' })
    await stream.getByText('in the town').waitFor()
    app.model.release()
    await hers.locator('summary', { hasText: 'weather' }).filter({ hasText: 'done' }).waitFor()
    await stream.waitFor({ state: 'detached' })
    await app.owner.client.agents.delete(iris.id)
  })

  test('"Today" becomes "Yesterday" at midnight', async () => {
    await omar!.client.messages.post(space.id, { text: 'good night' })
    const hers = await app.open(lina!, '/', { timezoneId: 'UTC' })
    const lateToday = new Date()
    lateToday.setUTCHours(23, 59, 0)
    await hers.clock.install({ time: lateToday })
    await hers.goto(at())
    const days = hers.getByRole('group', { name: 'Messages' }).getByRole('listitem')
    await days.getByText('Today').waitFor()
    await hers.clock.fastForward(120_000)
    await days.getByText('Yesterday').waitFor()
    expect(await spaceRow(hers, 'Project Alpha').getByRole('time').innerText()).not.toMatch(/:/)
  })

  test('a message to another space names its origin only to members of that space', async () => {
    const other = await app.space('Elsewhere', [lina!, omar!, ada!], { triggers: 'mentioned' })
    await app.owner.client.spaces.remove(space.id, omar!.id)
    const [hers, his] = await Promise.all([app.open(lina!, `/spaces/${other.id}`), app.open(omar!, `/spaces/${other.id}`)])
    await lina!.client.messages.post(space.id, { text: `go: ${other.id} Good news from the other room.` })
    await message(hers, 'Good news').getByText(/In response to Lina in Project Alpha: “go: /).waitFor()
    await message(his, 'Good news').getByText('In response to activity in another space').waitFor()
    await message(his, 'Good news').getByRole('button', { name: 'Why' }).click()
    await message(his, 'Good news').getByText('a message in a space you don’t have access to').waitFor()
    await message(hers, 'Good news').getByRole('link', { name: 'Project Alpha' }).click()
    await expect.poll(() => new URL(hers.url()).pathname).toMatch(`/spaces/${space.id}/messages/`)
    await app.closePages()
    await app.owner.client.spaces.delete(other.id)
  })

  test('a message that an event caused says so, and opens its chain', async () => {
    await app.owner.client.agents.trigger(ada!.id, { serviceName: 'Shop', payload: `go: ${space.id} A new order.` })
    const hers = await app.open(lina!, at())
    const order = message(hers, 'A new order.')
    await order.getByText('Because of an event from a service', { exact: true }).waitFor()
    await order.getByRole('button', { name: 'Why' }).click()
    await order.getByRole('listitem').getByText('Because of an event from a service').waitFor()
    const its = await app.open(app.owner, at())
    await message(its, 'A new order.').getByRole('button', { name: 'Why' }).click()
    await message(its, 'A new order.').getByText(`go: ${space.id} A new order.`).waitFor()
  })

  test('the prompt of a run is shown in blocks and compared with the previous run', async () => {
    await app.owner.client.messages.post(space.id, { text: 'say: the first' })
    await expect.poll(async () => (await lina!.client.messages.list(space.id)).total).toBe(2)
    await app.owner.client.messages.post(space.id, { text: 'say: the second' })
    const hers = await app.open(app.owner, `${at()}?inspect=runs`)
    await message(hers, 'the second').nth(1).waitFor()
    const panel = hers.getByRole('complementary')
    await panel.getByRole('button', { name: /Ada completed.*the second/ }).click()
    await panel.getByRole('button', { name: 'Show prompt' }).click()
    const bar = panel.getByRole('figure', { name: 'Budget' }).first()
    await bar.getByText(/^≈ [\d,]+ of 32,000 tokens used, 4,000 kept for the answer · Budget: /).waitFor()
    await bar.getByText(/^Space history \d+/).waitFor()
    await panel.getByText(/^SPACE HISTORY/).first().click()
    await panel.getByText('say: the first').first().waitFor()
    await panel.getByRole('checkbox', { name: 'Compare with previous run' }).check()
    await panel.getByText(/^INSTRUCTIONS/).first().waitFor()
    await panel.locator('summary', { hasText: 'INSTRUCTIONS' }).filter({ hasText: 'unchanged' }).first().waitFor()
    await panel.locator('ins', { hasText: 'say: the second' }).first().waitFor()
  })
})

describe('writing', () => {
  test('a mention is completed by keyboard', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).pressSequentially('@a')
    await hers.getByRole('option', { name: /Ada/ }).waitFor()
    await composer(hers).press('Enter')
    await composer(hers).pressSequentially('say: here I am')
    await composer(hers).press('Enter')
    await message(hers, 'here I am').nth(1).waitFor()
    const page = await lina!.client.messages.list(space.id)
    expect(page.messages[0]).toMatchObject({ text: '@Ada say: here I am', mentions: [ada!.id] })
  })

  test('typing on right after a completed mention keeps the caret in place', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).pressSequentially('@a')
    await hers.getByRole('option', { name: /Ada/ }).waitFor()
    await hers.evaluate(() => {
      const held: FrameRequestCallback[] = []
      window.requestAnimationFrame = (frame) => held.push(frame)
      addEventListener('drawn', () => held.splice(0).forEach((frame) => frame(performance.now())))
    })
    await composer(hers).press('Enter')
    await composer(hers).pressSequentially('are you')
    await hers.evaluate(() => dispatchEvent(new Event('drawn')))
    await composer(hers).pressSequentially(' there?')
    expect(await composer(hers).inputValue()).toBe('@Ada are you there?')
  })

  test('a draft survives a reload, and Shift+Enter adds a new line', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).pressSequentially('one')
    await composer(hers).press('Shift+Enter')
    await composer(hers).pressSequentially('two')
    await hers.reload()
    await expect.poll(() => composer(hers).inputValue()).toBe('one\ntwo')
  })

  test('unsent messages survive a reload and are sent in order', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).waitFor()
    const paths = '**/api/spaces/*/messages'
    await hers.route(paths, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
    await send(hers, 'first')
    await message(hers, 'first').getByText('Will send when').waitFor()
    await send(hers, 'second')
    await message(hers, 'second').getByText('Will send when').waitFor()
    await hers.unroute(paths)
    await hers.reload()
    await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages.map((each) => each.text)).toEqual(['first', 'second'])
    await expect.poll(() => messages(hers).count()).toBe(2)
    await hers.getByText('Will send when').waitFor({ state: 'detached' })
  })

  test('a refused message stays with its error until the author edits or deletes it', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).fill('x'.repeat(70_000))
    await composer(hers).press('Enter')
    await hers.getByText(/Not sent: .*70,?000/).waitFor()
    await hers.getByRole('button', { name: 'Edit' }).click()
    expect((await composer(hers).inputValue()).length).toBe(70_000)
    await composer(hers).press('Enter')
    await hers.getByText(/Not sent: .*70,?000/).waitFor()
    await hers.getByRole('button', { name: 'Delete' }).click()
    await hers.getByRole('heading', { name: 'No messages yet' }).waitFor()
  })
})

describe('membership, sessions and navigation', () => {
  test('a removed member loses access to the space at once', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).waitFor()
    await app.owner.client.spaces.remove(space.id, lina!.id)
    await hers.getByText('You don’t have access to this space').waitFor()
    await expect.poll(() => spaceRow(hers, 'Project Alpha').count()).toBe(0)
  })

  test('a member who is not an admin can leave a space', async () => {
    const other = await app.space('Too loud', [lina!])
    const hers = await app.open(lina!, `/spaces/${other.id}?inspect=settings`)
    await hers.getByRole('button', { name: 'Leave space' }).click()
    await hers.getByRole('button', { name: 'Yes, leave space' }).click()
    await hers.getByRole('heading', { name: 'Welcome to Majlis' }).waitFor()
    await expect.poll(() => spaceRow(hers, 'Too loud').count()).toBe(0)
    expect((await app.owner.client.spaces.get(other.id)).members.map((member) => member.name)).toEqual(['Owner'])
    await app.owner.client.spaces.delete(other.id)
  })

  test('when the session ends, the sign-in page appears and leads back to the same address', async () => {
    const hers = await app.open(lina!, at())
    await composer(hers).waitFor()
    await hers.request.delete('/api/session', { headers: { Origin: app.gateway.url } })
    await hers.getByLabel('Your token').fill(lina!.token)
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await composer(hers).waitFor()
    expect(new URL(hers.url()).pathname).toBe(at())
    app.pageErrors.length = 0
  })

  test('revoking a token ends its sessions at once', async () => {
    const nour = await app.person('Nour')
    await app.owner.client.spaces.add(space.id, { entityId: nour.id, role: 'member' })
    const hers = await app.open(nour, at())
    await composer(hers).waitFor()
    const [token] = await app.owner.client.entities.tokens(nour.id)
    await app.owner.client.tokens.revoke(token!.id)
    await hers.getByLabel('Your token').fill(nour.token)
    const answer = hers.waitForResponse((response) => response.url().endsWith('/api/session'))
    await hers.getByRole('button', { name: 'Sign in' }).click()
    const { error } = (await (await answer).json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('invalid_token')
    await hers.getByRole('alert').getByText(error.message).waitFor()
    app.pageErrors.length = 0
  })

  test('back, message links and quotes lead to the right place', async () => {
    const first = await omar!.client.messages.post(space.id, { text: 'the very beginning' })
    await Promise.all(Array.from({ length: 120 }, (_, n) => omar!.client.messages.post(space.id, { text: `line ${n}` })))
    await omar!.client.messages.post(space.id, { text: 'as I said', replyTo: first.id })
    const other = await app.space('Elsewhere', [lina!])
    const hers = await app.open(lina!, '/')
    await spaceRow(hers, 'Project Alpha').click()
    await hers.getByRole('link', { name: /Omar the very beginning/ }).click()
    await expect.poll(() => message(hers, 'the very beginning').first().isVisible()).toBe(true)
    expect(new URL(hers.url()).pathname).toBe(`${at()}/messages/${first.id}`)
    await hers.goBack()
    await hers.goBack()
    await hers.getByText('Welcome to Majlis').waitFor()
    await app.owner.client.spaces.delete(other.id)
    await spaceRow(hers, 'Elsewhere').waitFor({ state: 'detached' })
    // A user with one space starts there.
    await hers.goto('/')
    await composer(hers).waitFor()
  })
})
