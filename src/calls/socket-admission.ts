/** How a carrier's WebSocket becomes a call. */
import type { WebSocket } from 'ws';
import type { CallStart, Dialect } from '../protocols/dialect.ts';
import type { TransferOutcome, TransferRequest } from './leg.ts';

/** Gives a call to somebody else, as its carrier does it. */
export type TransferCall = (start: CallStart, request: TransferRequest) => Promise<TransferOutcome>;

/** What is known of a socket before its first message. */
export interface SocketAdmission {
  /** Whether `start` must bring a one-use token. */
  readonly tokenRequired?: boolean;
  /** Whether the peer that opened the socket has shown a secret of ours. Then it may name the call's app. */
  readonly trusted?: boolean;
  /** The flow that whoever opened the socket asks for; a parameter of the call goes before it. */
  readonly flow?: string | undefined;
  /** Whether to send silence while nothing is said; left out = no. */
  readonly fillSilence?: boolean;
  /** How the carrier gives the call to somebody else; left out = it cannot. */
  readonly transfer?: TransferCall;
}

/** Takes carriers' WebSockets. */
export interface WebSocketCalls {
  /** Takes over an upgraded socket for good. It becomes a call when its `start` is accepted. */
  accept(socket: WebSocket, dialect: Dialect, admission: SocketAdmission): void;
}
