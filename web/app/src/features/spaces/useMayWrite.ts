import { useMajlis } from '@majlis/client/react'

/** Viewers can only read. */
export const useMayWrite = (spaceId: string): boolean =>
  useMajlis((state) => {
    const role = state.spaces[spaceId]?.members.find((member) => member.id === state.me?.id)?.role
    return role !== undefined && role !== 'viewer'
  })
