import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { composer, message, say } from './harness/locators.ts'

let house: House
let [omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  house = await House.open({ MAJLIS_MODEL_PRICES: JSON.stringify({ 'openai:scripted': { input: 2, output: 8 } }) })
  ;[omar, ada] = [await house.person('Omar'), await house.agent('Ada', { instructions: 'Be brief.' })]
  space = await house.space('Project Alpha', [omar!, ada!])
})
afterAll(() => house.close())
afterEach(async () => {
  await house.leaveAll()
  expect(house.complaints.splice(0)).toEqual([])
})
const at = () => `/spaces/${space.id}`

test('an agent is changed by a form and as JSON that is checked, and tried before it is saved', async () => {
  await omar!.client.messages.post(space.id, { text: 'The door is green.' })
  const page = await house.visit(house.owner, `/admin/agents/${ada!.id}`)
  const json = page.getByRole('textbox', { name: 'All of it, as JSON' })
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Speak like a sailor.')
  expect(JSON.parse(await json.inputValue())).toMatchObject({ instructions: 'Speak like a sailor.' })

  await page.getByRole('textbox', { name: 'You say' }).fill('What colour is the door?')
  await page.getByRole('button', { name: 'Show what it would see' }).click()
  const tried = page.getByRole('region', { name: 'Try it' })
  await tried.getByText(/About [\d,.]+ tokens/).waitFor()
  await tried.getByText('SPACE HISTORY').first().click()
  await tried.getByText(/The door is green/).waitFor()
  await tried.getByText(/Speak like a sailor/).first().waitFor({ state: 'attached' })
  // Nothing of it has happened.
  expect((await omar!.client.messages.list(space.id)).total).toBe(1)
  expect((await house.owner.client.agents.get(ada!.id)).config['instructions']).toBe('Be brief.')

  const whole = await json.inputValue()
  await json.fill(whole.replace('"timeline"', '"dreamer"'))
  await page.getByText('mind should be one of timeline, consciousness, roles').waitFor()
  await json.fill(whole.replace('{', '{ "wndow": 3, '))
  await page.getByText('there is no wndow').waitFor()
  await json.fill('{')
  await page.getByText('This is not JSON yet').waitFor()
  await json.fill(whole)
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('textbox', { name: 'Tools of rule 1' }).fill('deploy*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/Saved as version 2/).waitFor()
  expect((await house.owner.client.agents.get(ada!.id)).config).toMatchObject({ instructions: 'Speak like a sailor.', policy: [{ tools: 'deploy*', do: 'ask' }] })
})

test('what an agent has failed over is tried again from its notice, and everybody sees how it went', async () => {
  const [his, hers] = await Promise.all([house.visit(omar!, at()), house.visit(house.owner, at())])
  house.model.understand({ 'Are you there?': 'fail: no key' })
  await say(his, 'Are you there?')
  await his.getByRole('group', { name: 'Messages' }).getByText(/Ada could not answer Omar's message/).waitFor()
  await message(his, 'Are you there?').hover()
  await message(his, 'Are you there?').getByRole('button', { name: 'Who has it' }).click()
  await his.getByRole('dialog', { name: 'Who has it' }).getByText('failed over it').waitFor()
  await his.getByRole('dialog', { name: 'Who has it' }).getByRole('button', { name: 'try again' }).waitFor()
  await his.keyboard.press('Escape')
  house.model.understand({ 'Are you there?': 'say: Here I am.' })
  await hers.getByRole('button', { name: 'Try again' }).click()
  for (const page of [his, hers]) {
    await message(page, 'Here I am.').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' })
  }
})

test('a space has its rules for tools, and its members their roles', async () => {
  const page = await house.visit(house.owner, '/admin/spaces')
  await page.getByRole('main').getByText('Project Alpha').first().click()
  await page.getByRole('main').getByRole('link', { name: 'Settings of Project Alpha' }).click()
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('textbox', { name: 'Tools of rule 1' }).fill('web_*')
  await page.getByRole('combobox', { name: 'What rule 1 says' }).selectOption({ label: 'may not be used' })
  await page.getByRole('complementary').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect((await house.owner.client.spaces.get(space.id)).toolPolicy).toEqual([{ tools: 'web_*', do: 'deny' }])
  const his = await house.visit(omar!, at())
  await composer(his).waitFor()
  await page.getByRole('button', { name: 'Members', exact: true }).click()
  await page.getByRole('combobox', { name: 'Role of Omar' }).selectOption('viewer')
  await his.getByText('You are a viewer here').waitFor()
  await page.getByRole('combobox', { name: 'Role of Omar' }).selectOption('member')
  await composer(his).waitFor()
})

test('whoever looks after the gateway sees every space and who is in it, and no word of those they are not in', async () => {
  const { id } = await omar!.client.spaces.create({ name: 'Between us', description: 'A secret garden' })
  await omar!.client.spaces.add(id, { entityId: ada!.id, role: 'member' })
  await omar!.client.messages.post(id, { text: 'the key is under the stone' })
  const page = await house.visit(house.owner, '/admin/spaces')
  await page.getByRole('main').getByText('Between us').first().click()
  await page.getByText('Omar (admin), Ada').waitFor()
  await page.getByText('You are not in this space').waitFor()
  expect(await page.getByText('under the stone').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Open Between us' }).count()).toBe(0)
})

test('an administrator is offered nothing that only owners may do', async () => {
  const amal = await house.person('Amal')
  await house.owner.client.entities.change(amal.id, { role: 'admin' })
  const page = await house.visit(amal, `/admin/people/${omar!.id}`)
  await page.getByText('Only owners give and take roles.').waitFor()
  expect(await page.getByRole('combobox', { name: /On this gateway/ }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'One-time sign-in link' }).waitFor()
  await page.goto(`/admin/people/${house.owner.id}`)
  await page.getByText('Only owners may change it.').waitFor()
  expect(await page.getByRole('main').getByRole('button').filter({ visible: true }).count()).toBe(0)
  await page.goto('/admin/spaces')
  await page.getByText('Project Alpha').click()
  await page.getByText('you can neither read nor change it').filter({ visible: true }).waitFor()
})

test('a viewer is offered neither an answer nor Stop, and what an agent holds is the administrators’', async () => {
  const vera = await house.person('Vera')
  const quiet = await house.space('Reading room', [omar!, ada!])
  await house.owner.client.spaces.add(quiet.id, { entityId: vera.id, role: 'viewer' })
  const [hers, his] = await Promise.all([house.visit(vera, `/spaces/${quiet.id}`), house.visit(omar!, `/spaces/${quiet.id}`)])
  await say(his, 'hold: One two three four five six.')
  for (const page of [hers, his]) await page.getByRole('list', { name: 'Agents at work' }).getByText('Ada').waitFor()
  await his.getByRole('button', { name: 'Stop Ada' }).waitFor()
  expect(await hers.getByRole('button', { name: 'Stop Ada' }).count()).toBe(0)
  await hers.getByRole('list', { name: 'Agents at work' }).getByRole('button', { name: 'Ada' }).click()
  await hers.getByRole('complementary').getByRole('heading', { name: /Ada running/ }).waitFor()
  expect(await hers.getByRole('complementary').getByRole('button', { name: 'Stop' }).count()).toBe(0)
  const answer = { name: 'Answer this message' }
  expect(await message(his, 'hold: One two').getByRole('button', answer).count()).toBe(1)
  expect(await message(hers, 'hold: One two').getByRole('button', answer).count()).toBe(0)
  house.model.release()
  await hers.goto(`/spaces/${quiet.id}?inspect=${ada!.id}`)
  await hers.getByText('shown to the administrators of this gateway').waitFor()
})

test('an admin of a space leaves it with the second press, not with the first', async () => {
  const hall = await omar!.client.spaces.create({ name: 'Hall' })
  await omar!.client.spaces.add(hall.id, { entityId: house.owner.id, role: 'admin' })
  const page = await house.visit(omar!, `/spaces/${hall.id}?inspect=members`)
  await page.getByRole('button', { name: 'Leave the space' }).click()
  await page.getByRole('button', { name: 'Really leave it' }).waitFor()
  expect((await house.owner.client.spaces.get(hall.id)).members).toHaveLength(2)
  await page.getByRole('button', { name: 'Really leave it' }).click()
  await page.getByText('There is no such space for you').waitFor()
  expect((await house.owner.client.spaces.get(hall.id)).members).toHaveLength(1)
})

test('people and services are made with what they need to come in', async () => {
  const page = await house.visit(house.owner, '/admin/people')
  await page.getByRole('textbox', { name: 'Name' }).fill('Build server')
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('service')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('$TOKEN').waitFor()
  await page.getByRole('textbox', { name: 'What the token is for' }).fill('nightly')
  await page.getByRole('combobox', { name: 'How long the token lives' }).selectOption({ label: 'ends in 30 days' })
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByText('Shown only now').waitFor()
  const line = await page.locator('code', { hasText: 'curl' }).innerText()
  const [, path, token, body] = /curl -X POST (\S+) -H "Authorization: Bearer (\S+)" .* -d '(.*)'$/.exec(line)!
  const answer = await fetch(path!, { method: 'POST', headers: { Authorization: `Bearer ${token!}`, 'Content-Type': 'application/json' }, body: body! })
  expect(answer.status).toBe(202)
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('nightly').waitFor({ state: 'detached' })
  expect((await fetch(`${house.gateway.url}/api/me`, { headers: { Authorization: `Bearer ${token!}` } })).status).toBe(401)
})

test('what an agent holds and costs is shown, its consciousness cycle by cycle', async () => {
  const nour = await house.agent('Nour', { mind: 'consciousness' })
  const quiet = await house.space('Quiet', [nour])
  await house.owner.client.messages.post(quiet.id, { text: 'remember this' })
  await expect.poll(async () => (await house.owner.client.agents.consciousness(nour.id)).cycles.length).toBe(1)
  const page = await house.visit(house.owner, `/spaces/${quiet.id}?inspect=${nour.id}`)
  await page.getByRole('img', { name: /^Tokens: .* in, / }).waitFor()
  await page.getByRole('img', { name: /^Cost: / }).waitFor()
  const panel = page.getByRole('complementary')
  await panel.getByText(/\d+ tokens$/).click()
  await panel.getByRole('button', { name: 'Look at the run' }).click()
  await panel.getByText('completed').waitFor()
})

test('among many people one is found by name', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, n) => house.person(`Guest ${n}`)))
  const page = await house.visit(house.owner, '/admin/people')
  const rows = page.getByRole('main').getByRole('link', { name: /Guest/ })
  await expect.poll(() => rows.count()).toBe(12)
  await page.getByRole('searchbox', { name: 'Find a person or service' }).fill('guest 11')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('searchbox', { name: 'Find a person or service' }).fill('guest 99')
  await page.getByText('Nobody is called so.').waitFor()
})
