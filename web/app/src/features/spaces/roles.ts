import type { Member, SpaceRole } from '@majlis/client'

import { msg } from '../../language/words.ts'

export const SPACE_ROLES: Record<SpaceRole, string> = { admin: msg('Admin'), member: msg('Member'), viewer: msg('Viewer') }
export const TYPES: Record<Member['type'], string> = { human: msg('Person'), agent: msg('Agent'), service: msg('Service') }
