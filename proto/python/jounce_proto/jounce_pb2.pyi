from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Causality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAUSALITY_UNSPECIFIED: _ClassVar[Causality]
    CAUSALITY_INPUT: _ClassVar[Causality]
    CAUSALITY_OUTPUT: _ClassVar[Causality]
    CAUSALITY_PARAMETER: _ClassVar[Causality]

class SignalType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_TYPE_UNSPECIFIED: _ClassVar[SignalType]
    SIGNAL_TYPE_REAL: _ClassVar[SignalType]
    SIGNAL_TYPE_INTEGER: _ClassVar[SignalType]
    SIGNAL_TYPE_BOOLEAN: _ClassVar[SignalType]
    SIGNAL_TYPE_ENUMERATION: _ClassVar[SignalType]

class Variability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VARIABILITY_UNSPECIFIED: _ClassVar[Variability]
    VARIABILITY_CONTINUOUS: _ClassVar[Variability]
    VARIABILITY_DISCRETE: _ClassVar[Variability]
    VARIABILITY_FIXED: _ClassVar[Variability]
    VARIABILITY_TUNABLE: _ClassVar[Variability]

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_CREATED: _ClassVar[SessionState]
    SESSION_STATE_RUNNING: _ClassVar[SessionState]
    SESSION_STATE_PAUSED: _ClassVar[SessionState]
    SESSION_STATE_FAILED: _ClassVar[SessionState]
    SESSION_STATE_CLOSED: _ClassVar[SessionState]
CAUSALITY_UNSPECIFIED: Causality
CAUSALITY_INPUT: Causality
CAUSALITY_OUTPUT: Causality
CAUSALITY_PARAMETER: Causality
SIGNAL_TYPE_UNSPECIFIED: SignalType
SIGNAL_TYPE_REAL: SignalType
SIGNAL_TYPE_INTEGER: SignalType
SIGNAL_TYPE_BOOLEAN: SignalType
SIGNAL_TYPE_ENUMERATION: SignalType
VARIABILITY_UNSPECIFIED: Variability
VARIABILITY_CONTINUOUS: Variability
VARIABILITY_DISCRETE: Variability
VARIABILITY_FIXED: Variability
VARIABILITY_TUNABLE: Variability
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_CREATED: SessionState
SESSION_STATE_RUNNING: SessionState
SESSION_STATE_PAUSED: SessionState
SESSION_STATE_FAILED: SessionState
SESSION_STATE_CLOSED: SessionState

class ErrorInfo(_message.Message):
    __slots__ = ("reason", "field", "given", "allowed", "message", "code", "missing", "expected_tick", "expected_epoch")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_TICK_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_EPOCH_FIELD_NUMBER: _ClassVar[int]
    reason: str
    field: str
    given: str
    allowed: str
    message: str
    code: int
    missing: _containers.RepeatedScalarFieldContainer[str]
    expected_tick: int
    expected_epoch: int
    def __init__(self, reason: _Optional[str] = ..., field: _Optional[str] = ..., given: _Optional[str] = ..., allowed: _Optional[str] = ..., message: _Optional[str] = ..., code: _Optional[int] = ..., missing: _Optional[_Iterable[str]] = ..., expected_tick: _Optional[int] = ..., expected_epoch: _Optional[int] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelSummary]
    def __init__(self, models: _Optional[_Iterable[_Union[ModelSummary, _Mapping[str, object]]]] = ...) -> None: ...

class ModelSummary(_message.Message):
    __slots__ = ("name", "input_count", "output_count", "parameter_count", "unavailable")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    input_count: int
    output_count: int
    parameter_count: int
    unavailable: str
    def __init__(self, name: _Optional[str] = ..., input_count: _Optional[int] = ..., output_count: _Optional[int] = ..., parameter_count: _Optional[int] = ..., unavailable: _Optional[str] = ...) -> None: ...

class DescribeModelRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class DescribeModelResponse(_message.Message):
    __slots__ = ("model", "signals", "server_version", "tick_seconds")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    model: str
    signals: _containers.RepeatedCompositeFieldContainer[Signal]
    server_version: str
    tick_seconds: float
    def __init__(self, model: _Optional[str] = ..., signals: _Optional[_Iterable[_Union[Signal, _Mapping[str, object]]]] = ..., server_version: _Optional[str] = ..., tick_seconds: _Optional[float] = ...) -> None: ...

class Signal(_message.Message):
    __slots__ = ("name", "causality", "type", "unit", "frame", "shape", "components", "first_index", "first_value_reference", "start", "minimum", "maximum", "nominal", "variability", "items", "description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CAUSALITY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    FIRST_INDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_VALUE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    NOMINAL_FIELD_NUMBER: _ClassVar[int]
    VARIABILITY_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    causality: Causality
    type: SignalType
    unit: str
    frame: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    components: _containers.RepeatedScalarFieldContainer[str]
    first_index: int
    first_value_reference: int
    start: _containers.RepeatedScalarFieldContainer[float]
    minimum: float
    maximum: float
    nominal: float
    variability: Variability
    items: _containers.RepeatedScalarFieldContainer[str]
    description: str
    def __init__(self, name: _Optional[str] = ..., causality: _Optional[_Union[Causality, str]] = ..., type: _Optional[_Union[SignalType, str]] = ..., unit: _Optional[str] = ..., frame: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., components: _Optional[_Iterable[str]] = ..., first_index: _Optional[int] = ..., first_value_reference: _Optional[int] = ..., start: _Optional[_Iterable[float]] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., nominal: _Optional[float] = ..., variability: _Optional[_Union[Variability, str]] = ..., items: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("number", "text")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    number: float
    text: str
    def __init__(self, number: _Optional[float] = ..., text: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("model", "parameters", "start_inputs", "expected_participants")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping[str, object]]] = ...) -> None: ...
    class StartInputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    START_INPUTS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    model: str
    parameters: _containers.MessageMap[str, Value]
    start_inputs: _containers.ScalarMap[str, float]
    expected_participants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[str] = ..., parameters: _Optional[_Mapping[str, Value]] = ..., start_inputs: _Optional[_Mapping[str, float]] = ..., expected_participants: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session_id", "token", "epoch", "tick", "tick_seconds")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    epoch: int
    tick: int
    tick_seconds: float
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., tick_seconds: _Optional[float] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ParticipantStatus(_message.Message):
    __slots__ = ("name", "joined", "expected", "due_tick", "missing", "period_ticks", "inputs")
    NAME_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    DUE_TICK_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    PERIOD_TICKS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    joined: bool
    expected: bool
    due_tick: int
    missing: bool
    period_ticks: int
    inputs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., joined: _Optional[bool] = ..., expected: _Optional[bool] = ..., due_tick: _Optional[int] = ..., missing: _Optional[bool] = ..., period_ticks: _Optional[int] = ..., inputs: _Optional[_Iterable[str]] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session_id", "model", "state", "epoch", "tick", "sim_ns", "tick_seconds", "participants", "failure")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    model: str
    state: SessionState
    epoch: int
    tick: int
    sim_ns: int
    tick_seconds: float
    participants: _containers.RepeatedCompositeFieldContainer[ParticipantStatus]
    failure: str
    def __init__(self, session_id: _Optional[str] = ..., model: _Optional[str] = ..., state: _Optional[_Union[SessionState, str]] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., tick_seconds: _Optional[float] = ..., participants: _Optional[_Iterable[_Union[ParticipantStatus, _Mapping[str, object]]]] = ..., failure: _Optional[str] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdvanceRequest(_message.Message):
    __slots__ = ("session_id", "token", "epoch", "tick", "n_ticks", "request", "input_names", "inputs", "output_names")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    N_TICKS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_NAMES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_NAMES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    epoch: int
    tick: int
    n_ticks: int
    request: int
    input_names: _containers.RepeatedScalarFieldContainer[str]
    inputs: _containers.RepeatedScalarFieldContainer[float]
    output_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., n_ticks: _Optional[int] = ..., request: _Optional[int] = ..., input_names: _Optional[_Iterable[str]] = ..., inputs: _Optional[_Iterable[float]] = ..., output_names: _Optional[_Iterable[str]] = ...) -> None: ...

class AdvanceResponse(_message.Message):
    __slots__ = ("epoch", "tick", "sim_ns", "outputs")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ...) -> None: ...

class LockstepRequest(_message.Message):
    __slots__ = ("step", "join", "leave")
    STEP_FIELD_NUMBER: _ClassVar[int]
    JOIN_FIELD_NUMBER: _ClassVar[int]
    LEAVE_FIELD_NUMBER: _ClassVar[int]
    step: Step
    join: Join
    leave: Leave
    def __init__(self, step: _Optional[_Union[Step, _Mapping[str, object]]] = ..., join: _Optional[_Union[Join, _Mapping[str, object]]] = ..., leave: _Optional[_Union[Leave, _Mapping[str, object]]] = ...) -> None: ...

class LockstepReply(_message.Message):
    __slots__ = ("state", "joined", "left", "error")
    STATE_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    state: State
    joined: Joined
    left: Left
    error: ErrorInfo
    def __init__(self, state: _Optional[_Union[State, _Mapping[str, object]]] = ..., joined: _Optional[_Union[Joined, _Mapping[str, object]]] = ..., left: _Optional[_Union[Left, _Mapping[str, object]]] = ..., error: _Optional[_Union[ErrorInfo, _Mapping[str, object]]] = ...) -> None: ...

class Join(_message.Message):
    __slots__ = ("session_id", "token", "name", "inputs", "outputs", "period_ticks", "phase_ticks", "barrier_timeout")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_TICKS_FIELD_NUMBER: _ClassVar[int]
    PHASE_TICKS_FIELD_NUMBER: _ClassVar[int]
    BARRIER_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    name: str
    inputs: _containers.RepeatedScalarFieldContainer[str]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    period_ticks: int
    phase_ticks: int
    barrier_timeout: float
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., name: _Optional[str] = ..., inputs: _Optional[_Iterable[str]] = ..., outputs: _Optional[_Iterable[str]] = ..., period_ticks: _Optional[int] = ..., phase_ticks: _Optional[int] = ..., barrier_timeout: _Optional[float] = ...) -> None: ...

class Joined(_message.Message):
    __slots__ = ("epoch", "tick", "clock_tick", "sim_ns", "tick_seconds", "inputs", "outputs", "input_values", "output_values")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    CLOCK_TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    clock_tick: int
    sim_ns: int
    tick_seconds: float
    inputs: _containers.RepeatedScalarFieldContainer[str]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    input_values: _containers.RepeatedScalarFieldContainer[float]
    output_values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., clock_tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., tick_seconds: _Optional[float] = ..., inputs: _Optional[_Iterable[str]] = ..., outputs: _Optional[_Iterable[str]] = ..., input_values: _Optional[_Iterable[float]] = ..., output_values: _Optional[_Iterable[float]] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("epoch", "tick", "request", "inputs")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    request: int
    inputs: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., request: _Optional[int] = ..., inputs: _Optional[_Iterable[float]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("epoch", "tick", "sim_ns", "outputs", "request")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    request: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ..., request: _Optional[int] = ...) -> None: ...

class Leave(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Left(_message.Message):
    __slots__ = ("tick",)
    TICK_FIELD_NUMBER: _ClassVar[int]
    tick: int
    def __init__(self, tick: _Optional[int] = ...) -> None: ...
