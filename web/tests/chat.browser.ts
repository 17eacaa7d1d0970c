import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { composer, message, messages, say, spaceRow, timeline } from './harness/locators.ts'

let house: House
let [lina, omar, ada]: Person[] = []
beforeAll(async () => {
  house = await House.open()
  ;[lina, omar, ada] = [await house.person('Lina'), await house.person('Omar'), await house.agent('Ada')]
})
afterAll(() => house.close())
let space: Space
beforeEach(async () => {
  space = await house.space('Project Alpha', [lina!, omar!, ada!])
})
afterEach(async () => {
  await house.leaveAll()
  await house.owner.client.spaces.delete(space.id)
  expect(house.complaints.splice(0)).toEqual([])
})
const at = () => `/spaces/${space.id}`

describe('two people in two browsers with an agent between them', () => {
  test('words appear while they are written, and as they were said', async () => {
    const [hers, his] = await Promise.all([house.visit(lina!, at()), house.visit(omar!, at())])
    await say(hers, 'hold: One two three four five six seven eight nine ten.')
    for (const page of [hers, his]) await page.locator('[data-stream]').getByText('One two three').waitFor()
    await his.getByRole('list', { name: 'Agents at work' }).getByText('Ada is writing').waitFor()
    expect(await his.locator('[data-stream]').innerText()).not.toContain('nine ten')
    house.model.release()
    for (const page of [hers, his]) {
      await messages(page).getByText('nine ten.', { exact: false }).nth(1).waitFor()
      await page.locator('[data-stream]').waitFor({ state: 'detached' })
    }
    await expect.poll(() => timeline(his)).toEqual(await timeline(hers))
  })

  test('what one has not read is counted, marked by a line, and read in every tab', async () => {
    const other = await house.space('Elsewhere', [lina!, omar!])
    await omar!.client.messages.post(other.id, { text: 'the first' })
    const hers = await house.visit(lina!, at())
    const second = await house.tab(hers.context())
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
    await house.owner.client.spaces.delete(other.id)
  })

  test('what is said while one looks elsewhere is not read, and has its line when one is back', async () => {
    await omar!.client.messages.post(space.id, { text: 'before lunch' })
    const hers = await house.visit(lina!, at())
    await message(hers, 'before lunch').waitFor()
    await expect.poll(async () => (await lina!.client.spaces.get(space.id)).unreadCount).toBe(0)
    // Tests have the focus in every tab at once; people do not.
    const look = (here: boolean) =>
      hers.evaluate((there) => {
        document.hasFocus = () => there
        dispatchEvent(new Event(there ? 'focus' : 'blur'))
      }, here)
    await look(false)
    await omar!.client.messages.post(space.id, { text: 'during lunch' })
    await message(hers, 'during lunch').waitFor()
    await expect.poll(() => hers.title()).toMatch(/^\(1\)/)
    await look(true)
    await expect.poll(async () => (await lina!.client.spaces.get(space.id)).unreadCount).toBe(0)
    const rows = await timeline(hers)
    expect(rows.indexOf('New')).toBe(rows.findIndex((row) => row.includes('during lunch')) - 1)
  })

  test('an agent waits for an answer, is seen to, and goes on with it', async () => {
    const hers = await house.visit(lina!, at())
    await say(hers, 'ask: Blue or green?')
    const atWork = hers.getByRole('list', { name: 'Agents at work' })
    await atWork.getByText('Ada waits for an answer').waitFor()
    await message(hers, 'Blue or green?').last().hover()
    await message(hers, 'Blue or green?').last().getByRole('button', { name: 'Answer this message' }).click()
    await say(hers, 'green')
    await message(hers, 'green').getByRole('link', { name: /Ada Blue or green/ }).waitFor()
    await atWork.getByText('Ada waits for an answer').waitFor({ state: 'detached' })
  })

  test('a press on Stop takes the words away', async () => {
    const hers = await house.visit(lina!, at())
    await say(hers, 'hold: This will never be said to the very end of it.')
    await hers.locator('[data-stream]').getByText('This will').waitFor()
    await hers.getByRole('button', { name: 'Stop Ada' }).click()
    await hers.locator('[data-stream]').waitFor({ state: 'detached' })
    await expect.poll(() => messages(hers).count()).toBe(1)
    house.model.release()
  })
})

describe('reading', () => {
  test('a tool is folded with what went in, what came out and how long it took; what was very long is folded too', async () => {
    const tools = [{ name: 'weather', description: 'Tells the weather.', type: 'static', visible: true, execution: { output: { sky: 'clear' } } }]
    const iris = await house.agent('Iris', { tools })
    await house.owner.client.spaces.add(space.id, { entityId: iris.id, role: 'member' })
    await omar!.client.messages.post(space.id, { text: `A long tale. ${'And then it went on. '.repeat(300)} The end of it.` })
    const hers = await house.visit(lina!, at())
    const tale = message(hers, 'A long tale')
    await tale.getByRole('button', { name: 'Show all of it' }).click()
    await tale.getByRole('button', { name: 'Show less' }).waitFor()
    await omar!.client.messages.post(space.id, { text: 'use: weather' })
    await hers.locator('summary', { hasText: 'weather' }).filter({ hasText: 'done' }).click()
    await messages(hers).getByText('"sky": "clear"').waitFor()
    await messages(hers).getByText(/^Took /).waitFor()
    await house.owner.client.agents.delete(iris.id)
  })

  test('what was said today was said yesterday when the day is over', async () => {
    await omar!.client.messages.post(space.id, { text: 'good night' })
    const hers = await house.visit(lina!, '/', { timezoneId: 'UTC' })
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

  test('what an agent says elsewhere tells why, to those who may know', async () => {
    const other = await house.space('Elsewhere', [lina!, omar!, ada!], { triggers: 'mentioned' })
    await house.owner.client.spaces.remove(space.id, omar!.id)
    const [hers, his] = await Promise.all([house.visit(lina!, `/spaces/${other.id}`), house.visit(omar!, `/spaces/${other.id}`)])
    await lina!.client.messages.post(space.id, { text: `go: ${other.id} Good news from the other room.` })
    await message(hers, 'Good news').getByText(/sent because Lina said “go: .*” in Project Alpha/).waitFor()
    await message(his, 'Good news').getByText('sent because of something in another space').waitFor()
    await message(hers, 'Good news').getByRole('link', { name: 'Project Alpha' }).click()
    await expect.poll(() => new URL(hers.url()).pathname).toMatch(`/spaces/${space.id}/messages/`)
    await house.leaveAll()
    await house.owner.client.spaces.delete(other.id)
  })

  test('what an agent saw is shown block by block, and compared with the run before', async () => {
    await house.owner.client.messages.post(space.id, { text: 'say: the first' })
    await expect.poll(async () => (await lina!.client.messages.list(space.id)).total).toBe(2)
    await house.owner.client.messages.post(space.id, { text: 'say: the second' })
    const hers = await house.visit(house.owner, `${at()}?inspect=runs`)
    await message(hers, 'the second').nth(1).waitFor()
    const panel = hers.getByRole('complementary')
    await panel.getByRole('button', { name: /Ada completed.*the second/ }).click()
    await panel.getByRole('button', { name: 'What it saw' }).click()
    await panel.getByText(/^SPACE HISTORY/).first().click()
    await panel.getByText('say: the first').first().waitFor()
    await panel.getByRole('checkbox', { name: 'Compare with the run before' }).check()
    await panel.getByText(/^INSTRUCTIONS/).first().waitFor()
    await panel.locator('summary', { hasText: 'INSTRUCTIONS' }).filter({ hasText: 'same' }).first().waitFor()
    await panel.locator('ins', { hasText: 'say: the second' }).first().waitFor()
  })
})

describe('writing', () => {
  test('a name is completed by keys and called', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).pressSequentially('@a')
    await hers.getByRole('option', { name: /Ada/ }).waitFor()
    await composer(hers).press('Enter')
    await composer(hers).pressSequentially('say: here I am')
    await composer(hers).press('Enter')
    await message(hers, 'here I am').nth(1).waitFor()
    const page = await lina!.client.messages.list(space.id)
    expect(page.messages[0]).toMatchObject({ text: '@Ada say: here I am', mentions: [ada!.id] })
  })

  test('whoever writes on before the next frame is drawn finds every letter where it was meant', async () => {
    const hers = await house.visit(lina!, at())
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

  test('a draft stays with its space, and Shift+Enter is a new line', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).pressSequentially('one')
    await composer(hers).press('Shift+Enter')
    await composer(hers).pressSequentially('two')
    await hers.reload()
    await expect.poll(() => composer(hers).inputValue()).toBe('one\ntwo')
  })

  test('what nobody could take waits, survives a reload, and goes out in order by itself', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).waitFor()
    const paths = '**/api/spaces/*/messages'
    await hers.route(paths, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
    await say(hers, 'first')
    await message(hers, 'first').getByText('Waiting for a connection').waitFor()
    await say(hers, 'second')
    await message(hers, 'second').getByText('Waiting for a connection').waitFor()
    await hers.unroute(paths)
    await hers.reload()
    await expect.poll(async () => (await lina!.client.messages.list(space.id)).messages.map((each) => each.text)).toEqual(['first', 'second'])
    await expect.poll(() => messages(hers).count()).toBe(2)
    await hers.getByText('Waiting for a connection').waitFor({ state: 'detached' })
  })

  test('what is refused stays with its reason until its author decides', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).fill('x'.repeat(70_000))
    await composer(hers).press('Enter')
    await hers.getByText(/Not sent: text has 70000 bytes/).waitFor()
    await hers.getByRole('button', { name: 'Delete' }).click()
    await hers.getByText('Nothing has been said here yet').waitFor()
  })
})

describe('coming and going', () => {
  test('a removed member sees the space go at once', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).waitFor()
    await house.owner.client.spaces.remove(space.id, lina!.id)
    await hers.getByText('There is no such space for you').waitFor()
    await expect.poll(() => spaceRow(hers, 'Project Alpha').count()).toBe(0)
  })

  test('who is no admin of a space may still leave it', async () => {
    const other = await house.space('Too loud', [lina!])
    const hers = await house.visit(lina!, `/spaces/${other.id}?inspect=settings`)
    await hers.getByRole('button', { name: 'Leave the space' }).click()
    await hers.getByRole('button', { name: 'Really leave it' }).click()
    await hers.getByRole('heading', { name: 'Come in, sit down' }).waitFor()
    await expect.poll(() => spaceRow(hers, 'Too loud').count()).toBe(0)
    expect((await house.owner.client.spaces.get(other.id)).members.map((member) => member.name)).toEqual(['Owner'])
    await house.owner.client.spaces.delete(other.id)
  })

  test('the end of a session leads to the way in, and signing in leads back', async () => {
    const hers = await house.visit(lina!, at())
    await composer(hers).waitFor()
    await hers.request.delete('/api/session', { headers: { Origin: house.gateway.url } })
    await hers.getByLabel('Your token').fill(lina!.token)
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await composer(hers).waitFor()
    expect(new URL(hers.url()).pathname).toBe(at())
    house.complaints.length = 0
  })

  test('a revoked token ends the sessions it has opened, at once', async () => {
    const nour = await house.person('Nour')
    await house.owner.client.spaces.add(space.id, { entityId: nour.id, role: 'member' })
    const hers = await house.visit(nour, at())
    await composer(hers).waitFor()
    const [token] = await house.owner.client.entities.tokens(nour.id)
    await house.owner.client.tokens.revoke(token!.id)
    await hers.getByLabel('Your token').fill(nour.token)
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await hers.getByText(/not valid, has expired or was revoked/).waitFor()
    house.complaints.length = 0
  })

  test('back and forward, a permalink and a quote lead where they say', async () => {
    const first = await omar!.client.messages.post(space.id, { text: 'the very beginning' })
    await Promise.all(Array.from({ length: 120 }, (_, n) => omar!.client.messages.post(space.id, { text: `line ${n}` })))
    await omar!.client.messages.post(space.id, { text: 'as I said', replyTo: first.id })
    const other = await house.space('Elsewhere', [lina!])
    const hers = await house.visit(lina!, '/')
    await spaceRow(hers, 'Project Alpha').click()
    await hers.getByRole('link', { name: /Omar the very beginning/ }).click()
    await expect.poll(() => message(hers, 'the very beginning').first().isVisible()).toBe(true)
    expect(new URL(hers.url()).pathname).toBe(`${at()}/messages/${first.id}`)
    await hers.goBack()
    await hers.goBack()
    await hers.getByText('Come in, sit down').waitFor()
    await house.owner.client.spaces.delete(other.id)
    await spaceRow(hers, 'Elsewhere').waitFor({ state: 'detached' })
    // Who has one space only comes in there.
    await hers.goto('/')
    await composer(hers).waitFor()
  })
})
