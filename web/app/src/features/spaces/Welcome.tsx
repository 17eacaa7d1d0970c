import { useSpaces } from '@majlis/client/react'

import { NewSpace } from './NewSpace.tsx'

export function Welcome() {
  const none = useSpaces().length === 0
  return (
    <div className="grid flex-1 place-items-center p-6 text-center">
      <div className="max-w-md space-y-3">
        <img src="/page/icon.svg" alt="" width="56" height="56" className="mx-auto mb-5" />
        <h2 className="text-title">Welcome to Majlis</h2>
        <p className="text-ink-soft">{none ? 'Create a space and add people and agents to it.' : 'Select a space, or create a new one.'} Only members of a space can read its messages.</p>
        {none && <div className="pt-2"><NewSpace label="Create space" /></div>}
      </div>
    </div>
  )
}
