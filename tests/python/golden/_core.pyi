"""C++ core of farfield."""

from collections.abc import Callable, Mapping, Sequence
import enum
import os
from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


class JointType(enum.Enum):
    """How a body moves against its parent."""

    Fixed = 0
    """No freedom."""

    Free = 1
    """
    Child of the world: q = (x, y, z, qw, qx, qy, qz), v = (world linear, body angular).
    """

    Ball = 2
    """q = (qw, qx, qy, qz), v = body angular velocity."""

    Universal = 3
    """Hinge about `axis`, then about `axis2`."""

    Hinge = 4
    """Rotation about `axis` [rad]."""

    Slide = 5
    """Translation along `axis` [m]."""

class BodyMotion(enum.Enum):
    """What moves a body."""

    Dynamic = 0
    """Its joints and the forces on it."""

    Fixed = 1
    """Welded to its parent."""

    Kinematic = 2
    """A scripted pose; child of the world."""

class ShapeType(enum.Enum):
    """Kinds of shapes; sizes are described at Shape.size."""

    Box = 0

    Sphere = 1

    Capsule = 2

    Cylinder = 3

    Ellipsoid = 4

    Mesh = 5

    HalfSpace = 6

class ContactPolicy(enum.Enum):
    """How far two bodies push each other."""

    All = 0
    """
    As far as the contact model reaches: of long-range contact at any distance.
    """

    Near = 1
    """
    Within LongRange.near_range of their size; models of finite range keep their own.
    """

class ActuatorType(enum.Enum):
    """Kinds of actuators."""

    Motor = 0
    """Generalised force gear * u."""

    Pd = 1
    """Stable proportional-derivative drive."""

    Affine = 2
    """
    Force gain u + bias - kp l - kd l' on the length l of a hinge, slide or tendon.
    """

class ConstraintType(enum.Enum):
    """Kinds of exact constraints."""

    Connect = 0
    """A point of one body is a point of the other."""

    Weld = 1
    """Also their orientations are fixed against each other."""

    Coupling = 2
    """A length is a polynomial of another."""

class Moments:
    """Mass moments of a rigid body up to second order, in its own frame."""

    def __init__(self, *, mass: float = 0.0, first: numpy.typing.ArrayLike = ..., second: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, mass: float = 0.0, first: numpy.typing.ArrayLike = ..., second: numpy.typing.ArrayLike = ...) -> Moments:
        """A copy with the given fields changed."""

    @property
    def mass(self) -> float:
        """Mass [kg]."""

    @property
    def first(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of m x [kg m], shape (3,)."""

    @property
    def second(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of m x x^T [kg m^2], shape (3, 3)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    @staticmethod
    def from_inertia(*, mass: float, center: numpy.typing.ArrayLike, inertia: numpy.typing.ArrayLike) -> Moments:
        """
        From the mass [kg], the centre of mass [m], shape (3,), and the rotational inertia about it [kg m^2], shape (3, 3).
        """

    @staticmethod
    def from_vector(values: numpy.typing.ArrayLike) -> Moments:
        """From the ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz."""

    @property
    def vector(self) -> numpy.typing.NDArray[numpy.float64]:
        """The ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz."""

    @property
    def center(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass [m], shape (3,)."""

    @property
    def inertia(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Rotational inertia about the centre of mass, body axes [kg m^2], shape (3, 3).
        """

class TriangleMesh:
    """Triangles as given: never made convex, decimated or moved."""

    def __init__(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> TriangleMesh:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name used in error texts and by Shape lookups."""

    @property
    def vertices(self) -> numpy.typing.NDArray[numpy.float64]:
        """Vertices [m], shape (n, 3)."""

    @property
    def triangles(self) -> numpy.typing.NDArray[numpy.int32]:
        """Vertex indices, shape (t, 3), counter-clockwise seen from outside."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def validate(self) -> None:
        """
        Raises ValueError for an empty mesh, an index out of range or a degenerate triangle.
        """

    @property
    def is_watertight(self) -> bool:
        """Every edge is shared by exactly two triangles of opposite orientation."""

    def convex_hull(self) -> TriangleMesh:
        """The convex hull of the vertices, as a mesh of the same name."""

    def enclosing(self, *, max_triangles: int, max_distance: float) -> TriangleMesh:
        """
        A coarser mesh around this one, which must be watertight: edges are collapsed outwards, down to max_triangles or until a vertex would go further than max_distance [m].
        """

    def distance_to(self, other: TriangleMesh, *, tolerance: float) -> float:
        """
        The largest distance of any point of this surface to the other one [m], never too small and at most tolerance too large.
        """

    def moments(self, *, density: float) -> Moments:
        """
        Moments of the solid bounded by this mesh, of uniform `density` [kg/m^3]; the mesh must be watertight.
        """

class Range:
    """Limits of a coordinate [rad or m]."""

    def __init__(self, *, lower: float = 0.0, upper: float = 0.0) -> None: ...

    def replace(self, *, lower: float = 0.0, upper: float = 0.0) -> Range:
        """A copy with the given fields changed."""

    @property
    def lower(self) -> float:
        """Lower end."""

    @property
    def upper(self) -> float:
        """Upper end."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Joint:
    """One joint of a body."""

    def __init__(self, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> None: ...

    def replace(self, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> Joint:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique in the scene."""

    @property
    def type(self) -> JointType:
        """A JointType or its name."""

    @property
    def anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """A point on the axis, body frame [m], shape (3,)."""

    @property
    def axis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Direction, body frame, shape (3,); normalised when the model is built."""

    @property
    def axis2(self) -> numpy.typing.NDArray[numpy.float64]:
        """Second axis of a universal joint, shape (3,)."""

    @property
    def reference(self) -> float:
        """Hinge, slide: the coordinate of the described pose [rad or m]."""

    @property
    def range(self) -> Range | None:
        """Limits [rad or m]; ball: (0, largest angle)."""

    @property
    def range2(self) -> Range | None:
        """Limits of the second axis of a universal joint [rad]."""

    @property
    def limit_stiffness(self) -> float:
        """E = limit_stiffness/6 * excess^3 [N m/rad^2 or N/m^2]."""

    @property
    def damping(self) -> float:
        """[N m s/rad or N s/m]."""

    @property
    def armature(self) -> float:
        """Rotor inertia seen by the joint [kg m^2 or kg]."""

    @property
    def stiffness(self) -> float:
        """Spring [N m/rad or N/m]."""

    @property
    def spring_reference(self) -> float:
        """Coordinate at which the spring rests [rad or m]."""

    @property
    def friction(self) -> float:
        """Dry friction of a hinge, slide or universal joint [N m or N]."""

    @property
    def friction_speed(self) -> float:
        """Dry friction is smoothed below this speed [rad/s or m/s]."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Body:
    """A rigid body, placed in its parent and moved by its joints in order."""

    def __init__(self, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None, gravity_compensation: float = 0.0) -> None: ...

    def replace(self, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None, gravity_compensation: float = 0.0) -> Body:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique in the scene."""

    @property
    def parent(self) -> int:
        """Index of an earlier body; 0 is the world."""

    @property
    def position(self) -> numpy.typing.NDArray[numpy.float64]:
        """Origin in the parent's frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Quaternion (w, x, y, z) in the parent's frame, shape (4,)."""

    @property
    def motion(self) -> BodyMotion:
        """A BodyMotion or its name."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order in which they act."""

    @property
    def moments(self) -> Moments | None:
        """Mass moments in the body frame; from the shapes' densities when None."""

    @property
    def gravity_compensation(self) -> float:
        """Part of its weight that something else carries."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Shape:
    """Geometry on a body: drawn, and colliding unless told otherwise."""

    def __init__(self, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, keep_vertices: bool = False, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, keep_vertices: bool = False, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> Shape:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name, may be empty."""

    @property
    def body(self) -> int:
        """Index of the body that carries it."""

    @property
    def type(self) -> ShapeType:
        """A ShapeType or its name."""

    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        [m], shape (3,): box half extents; sphere (radius); capsule and cylinder (radius, half length) along z; ellipsoid half axes. A half-space is z <= 0 of its own frame.
        """

    @property
    def position(self) -> numpy.typing.NDArray[numpy.float64]:
        """In the body frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Quaternion (w, x, y, z) in the body frame, shape (4,)."""

    @property
    def mesh(self) -> int:
        """Index into Scene.meshes for ShapeType.Mesh, else -1."""

    @property
    def density(self) -> float:
        """[kg/m^3]; used only when the body's moments are None."""

    @property
    def friction(self) -> float:
        """Friction coefficient; a pair takes the larger."""

    @property
    def resolution(self) -> int:
        """Triangulation of a primitive; 0 is the default."""

    @property
    def collides(self) -> bool:
        """False: drawn only."""

    @property
    def keep_vertices(self) -> bool:
        """
        Its convex hull keeps every vertex, also those in faces and inside: a design may move each of them.
        """

    @property
    def group(self) -> int:
        """Bit mask; pairs meet when (group_a & with_b) | (group_b & with_a)."""

    @property
    def collides_with(self) -> int:
        """Bit mask of the groups it meets."""

    @property
    def color(self) -> numpy.typing.NDArray[numpy.float64]:
        """Red, green, blue, opacity in 0..1, shape (4,)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class LengthTerm:
    """One joint's part in a length: coefficient times its coordinate."""

    def __init__(self, *, joint: str = '', coefficient: float = 1.0) -> None: ...

    def replace(self, *, joint: str = '', coefficient: float = 1.0) -> LengthTerm:
        """A copy with the given fields changed."""

    @property
    def joint(self) -> str:
        """Name of a hinge or slide."""

    @property
    def coefficient(self) -> float:
        """Factor of its coordinate."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Tendon:
    """A fixed tendon: a length that is linear in coordinates."""

    def __init__(self, *, name: str = '', terms: Sequence[LengthTerm] = ..., range: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, stiffness: float = 0.0, rest: Range | tuple[float, float] | None = None, damping: float = 0.0, armature: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> None: ...

    def replace(self, *, name: str = '', terms: Sequence[LengthTerm] = ..., range: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, stiffness: float = 0.0, rest: Range | tuple[float, float] | None = None, damping: float = 0.0, armature: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> Tendon:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique among tendons."""

    @property
    def terms(self) -> tuple[LengthTerm, ...]:
        """What its length is made of."""

    @property
    def range(self) -> Range | None:
        """Limits of the length."""

    @property
    def limit_stiffness(self) -> float:
        """E = limit_stiffness/6 * excess^3."""

    @property
    def stiffness(self) -> float:
        """Spring."""

    @property
    def rest(self) -> Range | None:
        """Lengths at which the spring is slack; None: 0."""

    @property
    def damping(self) -> float:
        """Force per speed of the length."""

    @property
    def armature(self) -> float:
        """Inertia of the length."""

    @property
    def friction(self) -> float:
        """Dry friction."""

    @property
    def friction_speed(self) -> float:
        """Dry friction is smoothed below this speed."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Actuator:
    """A motor or a stable proportional-derivative drive on one joint."""

    def __init__(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None, tendon: str = '', body: str = '', position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., gain: float = 1.0, bias: float = 0.0, force_range: Range | tuple[float, float] | None = None) -> None: ...

    def replace(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None, tendon: str = '', body: str = '', position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., gain: float = 1.0, bias: float = 0.0, force_range: Range | tuple[float, float] | None = None) -> Actuator:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name, may be empty."""

    @property
    def type(self) -> ActuatorType:
        """An ActuatorType or its name."""

    @property
    def joint(self) -> str:
        """Name of the driven joint."""

    @property
    def kp(self) -> float:
        """Position gain [N m/rad or N/m]."""

    @property
    def kd(self) -> float:
        """Velocity gain [N m s/rad or N s/m]."""

    @property
    def gear(self) -> tuple[float, ...]:
        """
        Empty: one control per degree of freedom. Else one entry per degree of freedom, one control.
        """

    @property
    def position_input(self) -> bool:
        """Pd: the position target is a control."""

    @property
    def velocity_input(self) -> bool:
        """Pd: the velocity target is a control."""

    @property
    def control_range(self) -> Range | None:
        """Controls saturate here, with rounded corners."""

    @property
    def tendon(self) -> str:
        """Name of the driven tendon, in place of a joint."""

    @property
    def body(self) -> str:
        """
        Name of the body a motor pushes, in place of a joint; gear: force and torque.
        """

    @property
    def position(self) -> numpy.typing.NDArray[numpy.float64]:
        """Where it pushes the body, body frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Frame of that gear in the body, (w, x, y, z)."""

    @property
    def gain(self) -> float:
        """Affine: force per control."""

    @property
    def bias(self) -> float:
        """Affine: force without control, at length 0."""

    @property
    def force_range(self) -> Range | None:
        """The force saturates here, before the gear [N m or N]."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Tie:
    """
    Exact linear tie between scalar joints: q(joint) = offset + ratio * q(source).
    """

    def __init__(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> None: ...

    def replace(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> Tie:
        """A copy with the given fields changed."""

    @property
    def joint(self) -> str:
        """Name of the joint that follows."""

    @property
    def source(self) -> str:
        """Name of the joint that leads."""

    @property
    def ratio(self) -> float:
        """d q(joint) / d q(source)."""

    @property
    def offset(self) -> float:
        """q(joint) when q(source) = 0 [rad or m]."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Constraint:
    """An exact constraint between bodies, or between joints."""

    def __init__(self, *, name: str = '', type: ConstraintType | str = ..., body: str = '', other: str = 'world', anchor: numpy.typing.ArrayLike = ..., other_anchor: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., terms: Sequence[LengthTerm] = ..., source: Sequence[LengthTerm] = ..., reference: float = 0.0, source_reference: float = 0.0, polynomial: Sequence[float] = ...) -> None: ...

    def replace(self, *, name: str = '', type: ConstraintType | str = ..., body: str = '', other: str = 'world', anchor: numpy.typing.ArrayLike = ..., other_anchor: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., terms: Sequence[LengthTerm] = ..., source: Sequence[LengthTerm] = ..., reference: float = 0.0, source_reference: float = 0.0, polynomial: Sequence[float] = ...) -> Constraint:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique among constraints."""

    @property
    def type(self) -> ConstraintType:
        """A ConstraintType or its name."""

    @property
    def body(self) -> str:
        """Connect, weld: name of a body."""

    @property
    def other(self) -> str:
        """Connect, weld: name of the other body."""

    @property
    def anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """Point of `body`, in its frame [m], shape (3,)."""

    @property
    def other_anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """Point of `other`, in its frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Weld: `other` in the frame of `body`, (w, x, y, z)."""

    @property
    def terms(self) -> tuple[LengthTerm, ...]:
        """Coupling: the length that follows."""

    @property
    def source(self) -> tuple[LengthTerm, ...]:
        """Coupling: the length that leads."""

    @property
    def reference(self) -> float:
        """Coupling: taken from the length that follows."""

    @property
    def source_reference(self) -> float:
        """Coupling: taken from the length that leads."""

    @property
    def polynomial(self) -> tuple[float, ...]:
        """Coupling: coefficients, constant first."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Keyframe:
    """A named state; empty arrays mean the defaults."""

    def __init__(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> Keyframe:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]:
        """Coordinates, shape (num_q,) or (0,)."""

    @property
    def v(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocities, shape (num_dofs,) or (0,)."""

    @property
    def control(self) -> numpy.typing.NDArray[numpy.float64]:
        """Controls, shape (num_controls,) or (0,)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class PairFriction:
    """
    Friction of two bodies, in place of the larger of their own coefficients.
    """

    def __init__(self, *, a: str = '', b: str = '', friction: float = 0.5) -> None: ...

    def replace(self, *, a: str = '', b: str = '', friction: float = 0.5) -> PairFriction:
        """A copy with the given fields changed."""

    @property
    def a(self) -> str:
        """Name of a body."""

    @property
    def b(self) -> str:
        """Name of another body."""

    @property
    def friction(self) -> float:
        """Coefficient, >= 0."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class PairContact:
    """How far two bodies push each other, whatever else holds for them."""

    def __init__(self, *, a: str = '', b: str = '', policy: ContactPolicy | str = ...) -> None: ...

    def replace(self, *, a: str = '', b: str = '', policy: ContactPolicy | str = ...) -> PairContact:
        """A copy with the given fields changed."""

    @property
    def a(self) -> str:
        """Name of a body."""

    @property
    def b(self) -> str:
        """Name of another body."""

    @property
    def policy(self) -> ContactPolicy:
        """A ContactPolicy or its name."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Scene:
    """
    The plain description of a world. SI units; quaternions are (w, x, y, z); body 0 is the world.

    Its lists are read as tuples of copies; change them by add_..., replace_..., or by assigning a whole new list.
    """

    def __init__(self, *, name: str = 'scene', gravity: numpy.typing.ArrayLike = ..., dt: float | None = None, bodies: Sequence[Body] = ..., meshes: Sequence[TriangleMesh] = ..., shapes: Sequence[Shape] = ..., tendons: Sequence[Tendon] = ..., actuators: Sequence[Actuator] = ..., ties: Sequence[Tie] = ..., constraints: Sequence[Constraint] = ..., exclude_contacts: Sequence[tuple[str, str]] = ..., include_contacts: Sequence[tuple[str, str]] = ..., pair_friction: Sequence[PairFriction] = ..., self_contact: ContactPolicy | str = ..., pair_contact: Sequence[PairContact] = ..., keyframes: Sequence[Keyframe] = ..., warnings: Sequence[str] = ...) -> None: ...

    def replace(self, *, name: str = 'scene', gravity: numpy.typing.ArrayLike = ..., dt: float | None = None, bodies: Sequence[Body] = ..., meshes: Sequence[TriangleMesh] = ..., shapes: Sequence[Shape] = ..., tendons: Sequence[Tendon] = ..., actuators: Sequence[Actuator] = ..., ties: Sequence[Tie] = ..., constraints: Sequence[Constraint] = ..., exclude_contacts: Sequence[tuple[str, str]] = ..., include_contacts: Sequence[tuple[str, str]] = ..., pair_friction: Sequence[PairFriction] = ..., self_contact: ContactPolicy | str = ..., pair_contact: Sequence[PairContact] = ..., keyframes: Sequence[Keyframe] = ..., warnings: Sequence[str] = ...) -> Scene:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name of the scene."""

    @name.setter
    def name(self, value: str) -> None: ...

    @property
    def gravity(self) -> numpy.typing.NDArray[numpy.float64]:
        """[m/s^2], shape (3,)."""

    @gravity.setter
    def gravity(self, value: numpy.typing.ArrayLike) -> None: ...

    @property
    def dt(self) -> float | None:
        """
        Time step the description asks for [s]; rollouts that name none take it.
        """

    @dt.setter
    def dt(self, value: float | None) -> None: ...

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies; the first is the world."""

    @bodies.setter
    def bodies(self, value: Sequence[Body]) -> None: ...

    @property
    def meshes(self) -> tuple[TriangleMesh, ...]:
        """Meshes that shapes refer to by index."""

    @meshes.setter
    def meshes(self, value: Sequence[TriangleMesh]) -> None: ...

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes on bodies."""

    @shapes.setter
    def shapes(self, value: Sequence[Shape]) -> None: ...

    @property
    def tendons(self) -> tuple[Tendon, ...]:
        """Fixed tendons."""

    @tendons.setter
    def tendons(self, value: Sequence[Tendon]) -> None: ...

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """Actuators; their controls follow in this order."""

    @actuators.setter
    def actuators(self, value: Sequence[Actuator]) -> None: ...

    @property
    def ties(self) -> tuple[Tie, ...]:
        """Linear ties between joints."""

    @ties.setter
    def ties(self, value: Sequence[Tie]) -> None: ...

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Exact constraints that close loops."""

    @constraints.setter
    def constraints(self, value: Sequence[Constraint]) -> None: ...

    @property
    def exclude_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of body names that never touch."""

    @exclude_contacts.setter
    def exclude_contacts(self, value: Sequence[tuple[str, str]]) -> None: ...

    @property
    def include_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of body names that may touch."""

    @include_contacts.setter
    def include_contacts(self, value: Sequence[tuple[str, str]]) -> None: ...

    @property
    def pair_friction(self) -> tuple[PairFriction, ...]:
        """Pairs of bodies with a friction of their own."""

    @pair_friction.setter
    def pair_friction(self, value: Sequence[PairFriction]) -> None: ...

    @property
    def self_contact(self) -> ContactPolicy:
        """
        A ContactPolicy or its name: how far the bodies of one tree push each other.
        """

    @self_contact.setter
    def self_contact(self, value: ContactPolicy | str) -> None: ...

    @property
    def pair_contact(self) -> tuple[PairContact, ...]:
        """Pairs of bodies with a policy of their own."""

    @pair_contact.setter
    def pair_contact(self, value: Sequence[PairContact]) -> None: ...

    @property
    def keyframes(self) -> tuple[Keyframe, ...]:
        """Named states."""

    @keyframes.setter
    def keyframes(self, value: Sequence[Keyframe]) -> None: ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What an importer could not carry over."""

    @warnings.setter
    def warnings(self, value: Sequence[str]) -> None: ...

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def add_body(self, *, name: str = '', parent: int | str = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None, gravity_compensation: float = 0.0) -> int:
        """Appends a Body and returns its index; `parent` is an index or a name."""

    def add_joint(self, body: int | str, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> int:
        """
        Appends a Joint to the body and returns its place among the body's joints.
        """

    def add_shape(self, body: int | str, *, name: str = '', type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int | str = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, keep_vertices: bool = False, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> int:
        """
        Appends a Shape to the body and returns its index; `mesh` is an index or a name.
        """

    def add_mesh(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> int:
        """Appends a TriangleMesh and returns its index."""

    def add_actuator(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None, tendon: str = '', body: str = '', position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., gain: float = 1.0, bias: float = 0.0, force_range: Range | tuple[float, float] | None = None) -> int:
        """
        Appends an Actuator on an existing joint, tendon or body and returns its index.
        """

    def add_tendon(self, *, name: str = '', terms: Sequence[LengthTerm] = ..., range: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, stiffness: float = 0.0, rest: Range | tuple[float, float] | None = None, damping: float = 0.0, armature: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> int:
        """Appends a Tendon over existing joints and returns its index."""

    def add_constraint(self, *, name: str = '', type: ConstraintType | str = ..., body: str = '', other: str = 'world', anchor: numpy.typing.ArrayLike = ..., other_anchor: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., terms: Sequence[LengthTerm] = ..., source: Sequence[LengthTerm] = ..., reference: float = 0.0, source_reference: float = 0.0, polynomial: Sequence[float] = ...) -> int:
        """Appends a Constraint and returns its index."""

    def add_tie(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> int:
        """Appends a Tie between existing joints and returns its index."""

    def add_keyframe(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> int:
        """Appends a Keyframe and returns its index."""

    def exclude(self, a: int | str, b: int | str) -> None:
        """The two bodies (indices or names) never touch."""

    def set_pair_friction(self, a: int | str, b: int | str, friction: float) -> None:
        """
        Friction of two bodies (indices or names), in place of the larger of their own coefficients. No parameter: it has no gradient.
        """

    def set_pair_contact(self, a: int | str, b: int | str, policy: ContactPolicy | str) -> None:
        """
        How far two bodies (indices or names) push each other: 'all', 'near' or 'none'.
        """

    def include(self, a: int | str, b: int | str) -> None:
        """The two bodies (indices or names) may touch whatever other rules say."""

    def replace_body(self, which: int | str, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None, gravity_compensation: float = 0.0) -> None:
        """Changes fields of the element with this index or name."""

    def replace_shape(self, which: int | str, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, keep_vertices: bool = False, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> None:
        """Changes fields of the element with this index or name."""

    def replace_actuator(self, which: int | str, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None, tendon: str = '', body: str = '', position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., gain: float = 1.0, bias: float = 0.0, force_range: Range | tuple[float, float] | None = None) -> None:
        """Changes fields of the element with this index or name."""

    def replace_tendon(self, which: int | str, *, name: str = '', terms: Sequence[LengthTerm] = ..., range: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, stiffness: float = 0.0, rest: Range | tuple[float, float] | None = None, damping: float = 0.0, armature: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> None:
        """Changes fields of the element with this index or name."""

    def replace_constraint(self, which: int | str, *, name: str = '', type: ConstraintType | str = ..., body: str = '', other: str = 'world', anchor: numpy.typing.ArrayLike = ..., other_anchor: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., terms: Sequence[LengthTerm] = ..., source: Sequence[LengthTerm] = ..., reference: float = 0.0, source_reference: float = 0.0, polynomial: Sequence[float] = ...) -> None:
        """Changes fields of the element with this index or name."""

    def replace_joint(self, joint: str, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0, friction: float = 0.0, friction_speed: float = 0.01) -> None:
        """Changes fields of the joint with this name."""

    def body_index(self, body: int | str) -> int:
        """Index of the body with this name."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, body by body: the order of the coordinates q and v."""

class State:
    """
    Coordinates and velocities of a model: exactly what a trajectory stores.
    """

    def __init__(self, *, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike) -> None:
        """q: coordinates, shape (num_q,). v: velocities, shape (num_dofs,)."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Coordinates, shape (num_q,): angles [rad], positions [m], quaternions (w, x, y, z).
        """

    @q.setter
    def q(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Velocities, shape (num_dofs,) [rad/s, m/s]; free joints: linear in world axes, angular in body axes.
        """

    @v.setter
    def v(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    def copy(self) -> State:
        """An independent copy."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

    def __setstate__(self, arg: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]], /) -> None: ...

class Hull:
    """
    The convex hull of one colliding shape; its vertices are rows of Parameters.hull_vertices.
    """

    @property
    def shape(self) -> str:
        """Name of the shape."""

    @property
    def body(self) -> int:
        """Body index."""

    @property
    def rows(self) -> slice:
        """Slice of its vertices in Parameters.hull_vertices."""

    @property
    def triangles(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C')]:
        """
        Corners of its surface, counted from its first row, outward, shape (m, 3).
        """

    @property
    def volume(self) -> float:
        """[m^3]"""

    @property
    def clamped(self) -> bool:
        """Squeezed flat: a millionth of its described volume counts instead."""

    @property
    def inverted(self) -> bool:
        """
        Its vertices are turned inside out against the description; the hull of the points counts.
        """

    @property
    def interior(self) -> list[int]:
        """
        Vertices strictly inside, counted from its first row: contact does not feel them.
        """

    def __repr__(self) -> str: ...

def current_hulls(model: Model, parameters: Parameters) -> list[Hull]:
    """
    The model's hulls as Parameters.hull_vertices span them, in the order of model.hulls.
    """

class Drawable:
    """A surface to draw, in the frame of its body."""

    @property
    def name(self) -> str:
        """Name of the shape."""

    @property
    def body(self) -> int:
        """Body index."""

    @property
    def vertices(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Shape (n, 3) [m]."""

    @property
    def triangles(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C')]:
        """Shape (m, 3)."""

    @property
    def color(self) -> Annotated[NDArray[numpy.float64], dict(shape=(4), order='C')]:
        """Red, green, blue, alpha, 0 to 1."""

class Model:
    """
    A scene compiled into flat arrays; immutable. Made by build_model or load.
    """

    @property
    def name(self) -> str:
        """Name of the scene."""

    @property
    def scene(self) -> Scene:
        """A copy of the scene it was built from."""

    @property
    def num_bodies(self) -> int:
        """Bodies, the world (0) included."""

    @property
    def num_q(self) -> int:
        """Coordinates."""

    @property
    def num_dofs(self) -> int:
        """Degrees of freedom: size of velocities and tangent vectors."""

    @property
    def num_unknowns(self) -> int:
        """Degrees of freedom left after ties and scripted bodies."""

    @property
    def num_controls(self) -> int:
        """Inputs of all actuators together."""

    @property
    def num_constraint_rows(self) -> int:
        """Equations of all constraints together."""

    @property
    def num_kinematic(self) -> int:
        """Bodies whose pose is scripted."""

    @property
    def num_parameters(self) -> int:
        """Entries of the flat vector of its parameters."""

    @property
    def default_dt(self) -> float:
        """
        Time step of rollouts that name none [s]: the one its file or scene states, else 0.01.
        """

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies, the world first."""

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints, in the order of q and v."""

    @property
    def actuator_names(self) -> list[str]:
        """Names of the actuators, in the order of the controls."""

    @property
    def kinematic_bodies(self) -> list[int]:
        """Indices of the scripted bodies, in the order of a script's columns."""

    @property
    def reduction(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """
        E of the exact reduction: tangent steps are E z, shape (num_dofs, num_unknowns).
        """

    @property
    def hulls(self) -> list[Hull]:
        """
        Convex hulls of the colliding shapes as described, in the order of Parameters.hull_vertices.
        """

    @property
    def contact_pairs(self) -> list:
        """Pairs of body names that may meet."""

    @property
    def contact_policies(self) -> list[str]:
        """
        'all' or 'near' for every one of contact_pairs, see Scene.self_contact and set_pair_contact.
        """

    @property
    def excluded_pairs(self) -> list[str]:
        """
        Pairs with a moving body that are left out of contact, as 'a, b: reason'; Scene.include brings one back.
        """

    @property
    def warnings(self) -> list[str]:
        """What the importer could not carry over and what looks unusual."""

    @property
    def keyframes(self) -> dict:
        """Name -> (State, control)."""

    def default_state(self) -> State:
        """The reference pose at rest."""

    def default_parameters(self) -> Parameters:
        """The parameters of the scene as described."""

    def default_control(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Position targets at the reference pose, the rest 0; shape (num_controls,).
        """

    def body(self, name: str) -> int:
        """Index of a body."""

    def joint_q(self, name: str) -> slice:
        """Slice of a joint's coordinates in q."""

    def joint_dofs(self, name: str) -> slice:
        """Slice of a joint's degrees of freedom in v and tangent vectors."""

    def actuator_controls(self, name: str) -> slice:
        """Slice of an actuator's inputs in the controls."""

    def drawables(self) -> list[Drawable]:
        """Surfaces to draw, half-spaces left out."""

    def half_spaces(self) -> list:
        """
        (body index, unit normal, offset) per half-space, in the body's frame: normal . x <= offset.
        """

    def __repr__(self) -> str: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

class ParameterField:
    """
    A field of Parameters: what it is and where it stands in the flat vector.
    """

    @property
    def name(self) -> str:
        """Name of the attribute."""

    @property
    def unit(self) -> str:
        """SI unit; of each kind of entry where they differ."""

    @property
    def rows(self) -> str:
        """
        What a row belongs to: 'body', 'actuator', 'dof', 'hull vertex' or 'scene' (a single one).
        """

    @property
    def description(self) -> str:
        """What it is."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the attribute; () for a number."""

    @property
    def entries(self) -> slice:
        """Slice of its entries in the flat vector."""

    def __repr__(self) -> str: ...

class Parameters:
    """
    What a rollout can be differentiated by besides its state and controls. Arrays are views: write into them.

    A vector with names: flatten, from_flat, + - * and dot; a gradient by parameters is a Parameters too.
    """

    @property
    def moments(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 10), order='C')]:
        """
        Mass moments per body, shape (num_bodies, 10): m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz [kg, kg m, kg m^2], h = sum m x, S = sum m x x^T in the body frame. They move together: see set_mass.
        """

    @moments.setter
    def moments(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None, 10), order='C')], /) -> None: ...

    @property
    def attachment(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """
        Position of each body in its parent, shape (num_bodies, 3) [m]; unused for free bodies.
        """

    @attachment.setter
    def attachment(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], /) -> None: ...

    @property
    def kp(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Position gains, shape (num_actuators,) [N m/rad or N/m]."""

    @kp.setter
    def kp(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def kd(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Velocity gains, shape (num_actuators,) [N m s/rad or N s/m]."""

    @kd.setter
    def kd(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def damping(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Joint damping, shape (num_dofs,) [N m s/rad or N s/m]."""

    @damping.setter
    def damping(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def armature(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Rotor inertia, shape (num_dofs,) [kg m^2 or kg]."""

    @armature.setter
    def armature(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def stiffness(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Joint springs, shape (num_dofs,) [N m/rad or N/m]."""

    @stiffness.setter
    def stiffness(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def joint_friction(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Dry friction of hinges and slides, shape (num_dofs,) [N m or N]."""

    @joint_friction.setter
    def joint_friction(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def gravity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Shape (3,) [m/s^2]."""

    @gravity.setter
    def gravity(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], /) -> None: ...

    @property
    def friction(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Coulomb coefficient per body, shape (num_bodies,); a pair uses the larger one of the built model.
        """

    @friction.setter
    def friction(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], /) -> None: ...

    @property
    def contact_stiffness(self) -> float:
        """
        Factor of the weights [J] of all contact pairs, see ContactModel.pair_weights.
        """

    @contact_stiffness.setter
    def contact_stiffness(self, arg: float, /) -> None: ...

    @property
    def hull_vertices(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Local vertices of convex hulls, stacked, shape (n, 3) [m]."""

    @hull_vertices.setter
    def hull_vertices(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], /) -> None: ...

    def copy(self) -> Parameters:
        """An independent copy."""

    def fields(self) -> list[ParameterField]:
        """
        Every field with its unit, shape and place in the flat vector, in order.
        """

    def flatten(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        All fields behind each other, row by row; see fields and parameter_names.
        """

    @staticmethod
    def from_flat(model: Model, flat: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Parameters:
        """The inverse of flatten, shape (model.num_parameters,)."""

    def unflatten(self, flat: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Parameters:
        """Parameters of these sizes with the entries of a flat vector."""

    def set_mass(self, body: int, mass: float) -> None:
        """
        Gives the body with this index (model.body(name)) a mass [kg]; first and second moments are scaled with it, so its centre and its shape of inertia stay.
        """

    def dot(self, other: Parameters) -> float:
        """Sum of the products of all entries."""

    def __add__(self, arg: Parameters, /) -> Parameters: ...

    def __sub__(self, arg: Parameters, /) -> Parameters: ...

    def __mul__(self, arg: float, /) -> Parameters: ...

    def __rmul__(self, arg: float, /) -> Parameters: ...

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

def zero_parameters(model: Model) -> Parameters:
    """Parameters of the model's sizes, all zero."""

def parameter_names(model: Model) -> list[str]:
    """
    Names of the entries of the flat vector: 'friction[box]', 'moments[box].mass', 'gravity.z', 'contact_stiffness'.
    """

def parameter_mask(model: Model, selection: Sequence[str]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
    """
    Indices into the flat vector of fields ('friction'), rows ('moments[box]') or entries ('moments[box].mass').
    """

def build_model(scene: Scene) -> Model:
    """
    Compiles a Scene. Raises ValueError naming the element, its value and what was expected.
    """

class ProjectedState:
    """A state that keeps all constraints, and how far it was from that."""

    @property
    def state(self) -> State:
        """The state."""

    @property
    def residual_before(self) -> float:
        """Largest violation before [m or rad]."""

    @property
    def residual_after(self) -> float:
        """Largest violation that is left [m or rad]."""

    @property
    def moved(self) -> float:
        """Largest change of a coordinate [m or rad]."""

    @property
    def worst(self) -> str:
        """Name of the constraint that was broken most."""

def project_onto_constraints(model: Model, parameters: Parameters, state: State) -> ProjectedState:
    """
    The nearest state, in the metric of the mass matrix, that keeps all constraints of the model.
    """

def constraint_values(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    What all constraints are broken by, in the order of Scene.constraints: connect 3 rows [m], weld 6 [m, sin of an angle], coupling 1.
    """

def forward_kinematics(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 7), order='C')]:
    """
    World placement of every body, shape (num_bodies, 7): position [m], quaternion (w, x, y, z).
    """

def retract(model: Model, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], delta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    q moved along a tangent vector, shape (num_dofs,): numbers add, rotations become R exp(delta).
    """

def difference(model: Model, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    The tangent vector from start to end: retract(start, difference(start, end)) = end.
    """

def mass_matrix(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
    """
    Mass matrix in joint coordinates with armature, shape (num_dofs, num_dofs) [kg m^2, kg m, kg]: kinetic energy is 1/2 v . M v.
    """

def body_jacobian(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], body: int, point: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
    """
    Velocity by v of a point fixed to a body, shape (6, num_dofs): linear, then angular, in world axes. point: in the frame of the body, shape (3,) [m]; absent: its origin.
    """

class InverseDynamicsDerivatives:
    """Jacobians of tau, shape (num_dofs, num_dofs) each, rows: tau."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the tangent of q (see retract)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By v."""

    @property
    def a(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By a: the mass matrix."""

class InverseDynamicsGradient:
    """Gradient of tau_bar . tau."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the tangent of q, shape (num_dofs,)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By v, shape (num_dofs,)."""

    @property
    def a(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By a, shape (num_dofs,)."""

    @property
    def wrenches(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')]:
        """By the wrenches on the bodies, shape (num_bodies, 6)."""

    @property
    def parameters(self) -> Parameters:
        """By moments, attachment, gravity and armature; the rest 0."""

def bias_force(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Coriolis, centrifugal, gyroscopic and gravity forces c(q, v), shape (num_dofs,) [N m or N]: M a + c = tau.
    """

def inverse_dynamics(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Generalised forces tau, shape (num_dofs,) [N m or N], under which the model accelerates by a [rad/s^2, m/s^2]: tau = M a + c - sum of J^T wrench. Springs, damping, ties and actuators are not in it. wrenches: forces on the bodies from outside, shape (num_bodies, 6): force [N] and torque [N m] in world axes at each body's origin.
    """

def inverse_dynamics_derivatives(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None) -> InverseDynamicsDerivatives:
    """
    Exact Jacobians of inverse_dynamics. By the wrench on a body: -body_jacobian(...).T.
    """

def inverse_dynamics_vjp(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None) -> InverseDynamicsGradient:
    """
    Gradient of tau_bar . inverse_dynamics(...), at the cost of a few of its evaluations.
    """

class ForwardDynamicsDerivatives:
    """Jacobians of a, rows: a."""

    @property
    def acceleration(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """The accelerations themselves, shape (num_dofs,)."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the tangent of q, shape (num_dofs, num_dofs)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By v, shape (num_dofs, num_dofs)."""

    @property
    def tau(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """
        By tau, shape (num_dofs, num_dofs): the inverse mass matrix, with ties E (E^T M E)^-1 E^T.
        """

    @property
    def wrenches(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """
        By the wrenches, shape (num_dofs, 6 num_bodies): columns 6 i to 6 i + 6 belong to body i.
        """

class ForwardDynamicsGradient:
    """Gradient of a_bar . a."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the tangent of q, shape (num_dofs,)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By v, shape (num_dofs,)."""

    @property
    def tau(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By tau, shape (num_dofs,)."""

    @property
    def scripted_acceleration(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By scripted_acceleration, shape (num_dofs,)."""

    @property
    def wrenches(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')]:
        """By the wrenches on the bodies, shape (num_bodies, 6)."""

    @property
    def parameters(self) -> Parameters:
        """By moments, attachment, gravity and armature; the rest 0."""

def forward_dynamics(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None, scripted_acceleration: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Accelerations, shape (num_dofs,) [rad/s^2, m/s^2], under the generalised forces tau, shape (num_dofs,) [N m or N]. Contact, springs, damping and actuators act only as far as they are in tau and wrenches; ties hold exactly. wrenches: as in inverse_dynamics. scripted_acceleration: shape (num_dofs,), read only where a body is scripted; absent: 0.
    """

def forward_dynamics_derivatives(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None, scripted_acceleration: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None = None) -> ForwardDynamicsDerivatives:
    """Exact Jacobians of forward_dynamics."""

def forward_dynamics_vjp(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], a_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')] | None = None, scripted_acceleration: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None = None) -> ForwardDynamicsGradient:
    """
    Gradient of a_bar . forward_dynamics(...), at the cost of a few of its evaluations.
    """

class PassiveForceDerivatives:
    """Jacobians of passive_force, (num_dofs, num_dofs)."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the tangent of q."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By v: -damping on the diagonal."""

class PassiveForceGradient:
    """Gradient of tau_bar . passive_force(...)."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the tangent of q, shape (num_dofs,)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By v, shape (num_dofs,)."""

    @property
    def parameters(self) -> Parameters:
        """By stiffness and damping; the rest 0."""

def passive_force(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Generalised forces of the joints' springs and dampers, shape (num_dofs,) [N m or N]; limits are not in it.
    """

def passive_force_derivatives(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> PassiveForceDerivatives:
    """Exact Jacobians of passive_force."""

def passive_force_vjp(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> PassiveForceGradient:
    """Gradient of tau_bar . passive_force(...)."""

class PairBlock:
    """Second derivatives of one pair of bodies."""

    @property
    def a(self) -> int:
        """Body index."""

    @property
    def b(self) -> int:
        """Body index, above a."""

    @property
    def hessian(self) -> Annotated[NDArray[numpy.float64], dict(shape=(12, 12), order='F')]:
        """Shape (12, 12): linear and angular motion of a, then of b, world axes."""

    @property
    def gap(self) -> float:
        """Certified lower bound of the distance [m]."""

class ContactLinearization:
    """Contact energy and its derivatives by body motions."""

    @property
    def energy(self) -> float:
        """[J]; inf when bodies touch."""

    @property
    def friction_energy(self) -> float:
        """The part of energy that is friction [J]."""

    @property
    def wrench(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C')]:
        """
        Derivative of the energy, shape (num_bodies, 6): by the position of each body's origin, then by a rotation vector. The force is its negative.
        """

    @property
    def blocks(self) -> list[PairBlock]:
        """One PairBlock per contact pair of the model."""

class ClosestPoints:
    """Closest points of two bodies."""

    @property
    def a(self) -> int:
        """Body index."""

    @property
    def b(self) -> int:
        """Body index, above a."""

    @property
    def distance(self) -> float:
        """[m]"""

    @property
    def point_a(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """World [m], shape (3,)."""

    @property
    def point_b(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """World [m], shape (3,)."""

def closest_points(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> list:
    """Exact closest points of every contact pair at coordinates q."""

class ContactModel:
    """A contact model: the `contact` argument of a rollout."""

    def __repr__(self) -> str: ...

    @property
    def description(self) -> str:
        """Name and options as JSON."""

    def pair_weights(self, model: Model) -> list:
        """
        (name of a, name of b, weight [J]) of every contact pair, at Parameters.contact_stiffness 1.
        """

    def evaluate(self, model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, previous_q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None = None, dt: float = 0.01) -> ContactLinearization:
        """
        Energy, wrenches and Hessian blocks at coordinates q. With previous_q, friction of a step of dt [s] from there is included.
        """

    def far_forces(self, model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """
        Force [N] on every body from pairs further apart than a tenth of the smaller body's size, shape (num_bodies, 3).
        """

def contact_from_description(text: str) -> ContactModel:
    """
    The contact model that ContactModel.description or Trajectory.contact describes; None for an empty text and for the contact of another engine.
    """

class LongRange(ContactModel):
    """
    Long-range contact: every pair of bodies repels at every distance, smoothly, and never touches.

    Stiffness and friction coefficients are in Parameters, to be differentiated by; a pair's energy is weighted by Parameters.contact_stiffness times pair_weights.
    """

    def __init__(self, *, stiffness: float = 1.0, weight_in_joules: float | None = None, leaf_weights: str = 'parallel', blend: Sequence[float] = [], zero_offset: bool = True, length_scale: float | None = None, slip_speed: float | None = None, near_range: float = 0.05, energy_tolerance: float = 1e-09, derivative_tolerance: float = 1e-12, friction_form: str = 'projected', round_shapes: bool = True, brute_force: bool = False) -> None:
        """
        stiffness: factor of the automatic weights, at which boxes rest at about a hundredth of their size.
        weight_in_joules: mu [J] of every pair instead of the automatic one. leaf_weights: 'parallel' (forces do not depend on how finely bodies are cut) or 'paper'.
        blend: blending margin per body, or one for all; empty = by shape. zero_offset: the potential tends to 0 far away.
        length_scale [m]: None = 1 beside weight_in_joules, else ten times the smaller body of a pair. slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.
        near_range: reach of pairs with the policy 'near' (Scene.self_contact, Scene.set_pair_contact), in sizes L of the smaller body; they fade from half of it on.
        friction_form: 'projected' (momentum balances) or 'paper'. round_shapes: spheres and capsules are round, instead of the triangles that other models see. brute_force: all pairs of triangles, no hierarchy.
        """

class Ipc(ContactModel):
    """
    Incremental potential contact: a barrier between vertices and triangles, and between edges, nearer than a range.

    Stiffness and friction coefficients are in Parameters, to be differentiated by; a pair's energy is weighted by Parameters.contact_stiffness times pair_weights.
    """

    def __init__(self, *, stiffness: float = 1.0, weight_in_joules: float | None = None, range: float | None = None, slip_speed: float | None = None) -> None:
        """
        stiffness: factor of the automatic weights, with which four terms at 0.85 of the range carry the lighter body of a pair.
        weight_in_joules: kappa [J] of every pair instead. range [m]: where contact begins; None = two hundredths of the smaller body of a pair.
        slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.
        """

class IpcGlobal(ContactModel):
    """
    The pairs of features of Ipc with 12 (1 + d^-1/2)^2 - 12 instead of the clamped barrier: never zero, but not smooth.

    Brute force over all pairs; refused above 2,000 triangles.
    """

    def __init__(self, *, stiffness: float = 1.0, weight_in_joules: float | None = None, length_scale: float | None = None, slip_speed: float | None = None) -> None:
        """
        stiffness: factor of the automatic weights. weight_in_joules: of every pair instead [J]. length_scale [m]: the unit of d; None = 1 beside weight_in_joules, else ten times the smaller body of a pair.
        slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.
        """

def hull_moments(model: Model, parameters: Parameters, *, mass: str = 'exact', mass_total: str = 'constant') -> Annotated[NDArray[numpy.float64], dict(shape=(None, 10), order='C')]:
    """
    Parameters.moments that follow from Parameters.hull_vertices, shape (num_bodies, 10).

    mass: 'exact' (uniform density inside the current hulls), 'lumped' (in the vertices) or 'fixed' (those of the parameters).
    mass_total: 'constant' (each body keeps its mass) or 'density' (each body keeps its density).
    """

def hull_moments_vjp(model: Model, parameters: Parameters, dL_dmoments: Annotated[NDArray[numpy.float64], dict(shape=(None, 10), order='C')], *, mass: str = 'exact', mass_total: str = 'constant') -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
    """
    Gradient by hull vertices through hull_moments, shape (n, 3): add it to that of rollout_vjp.
    """

class Polyhedral(ContactModel):
    """
    Convex-polyhedron contact: bodies are unions of convex hulls that repel below a range, smoothly, and never touch.

    Hulls are those of the colliding shapes, one each; their vertices are Parameters.hull_vertices. A pair's energy is
    weighted by Parameters.contact_stiffness times pair_weights.
    """

    def __init__(self, *, stiffness: float = 1.0, weight_in_joules: float | None = None, range: float | None = None, margin: float = 0.1, slip_speed: float | None = None, friction_form: str = 'projected') -> None:
        """
        stiffness: factor of the automatic weights, which follow from the lighter body's weight. weight_in_joules: kappa [J] of every pair instead.
        range: distance below which hulls repel [m]; None = two hundredths of the smaller body of a pair, less where they are nearer in the reference pose. margin: dimensionless margin of the barrier.
        slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body. friction_form: 'projected' (momentum balances) or 'paper'.
        """

    def pair_ranges(self, model: Model) -> list:
        """(name of a, name of b, range [m]) of every contact pair."""

    def excluded_pairs(self, model: Model) -> list[str]:
        """
        Body pairs left out because their hulls overlap in the reference pose, with the reason.
        """

class PointCloud:
    """A surface as points with outward unit normals."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], *, spacing: float, temperature: float | None = None) -> None:
        """
        spacing: mean distance of neighbours [m]. temperature [m^2]: 0.1 squared spacings unless given.
        """

    @property
    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Shape (n, 3) [m]."""

    @property
    def normals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Shape (n, 3)."""

    @property
    def spacing(self) -> float:
        """[m]"""

    @property
    def temperature(self) -> float:
        """[m^2]"""

    def __len__(self) -> int: ...

    @property
    def inradius(self) -> float:
        """Half the thickness of the body [m]."""

    @staticmethod
    def from_mesh(vertices: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C')], *, spacing: float, temperature: float = 0.1) -> PointCloud:
        """
        Points about `spacing` apart [m], mirrored about sharp edges, of a closed mesh. temperature in squared spacings.
        """

    @staticmethod
    def sphere(radius: float, count: int, *, temperature: float = 0.5) -> PointCloud:
        """`count` points on a sphere; temperature in squared spacings."""

    def sign_errors(self, vertices: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C')], *, samples: int = 20000) -> float:
        """
        Share of points within three spacings of a mesh at which the soft distance has the wrong sign.
        """

class SoftDistance:
    """
    Soft signed distance of points from a cloud: smooth, with exact gradient and Hessian.
    """

    def __init__(self, cloud: PointCloud, *, tolerance: float = 1e-12) -> None:
        """tolerance: share of weights that truncation may leave out."""

    @property
    def cloud(self) -> PointCloud:
        """The cloud it is the distance of."""

    def __call__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Shape (n, 3) -> (n,) [m], negative inside."""

    def gradient(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Shape (n, 3) -> (n, 3)."""

    def hessian(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C')]:
        """Shape (n, 3) -> (n, 9), rows of the symmetric 3 x 3 matrices [1/m]."""

    def vjp(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], bars: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """
        Gradient of the sum of bars times distances by the points, shapes (n, 3) and (n,) -> (n, 3).
        """

    def error(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Certified bound of what truncation leaves out, shape (n, 3) -> (n,) [m].
        """

class ForceBlock:
    """Wrenches of one pair of bodies and their derivatives."""

    @property
    def a(self) -> int:
        """Body index."""

    @property
    def b(self) -> int:
        """Body index, above a."""

    @property
    def wrench(self) -> Annotated[NDArray[numpy.float64], dict(shape=(12), order='C')]:
        """Shape (12,): force and torque on a, then on b, world axes."""

    @property
    def by_pose(self) -> Annotated[NDArray[numpy.float64], dict(shape=(12, 12), order='F')]:
        """Shape (12, 12): by linear and angular motion of a, then b."""

    @property
    def by_twist(self) -> Annotated[NDArray[numpy.float64], dict(shape=(12, 12), order='F')]:
        """Shape (12, 12): by both velocities."""

class ForceLinearization:
    """What a force law does, and its derivatives."""

    @property
    def force(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Shape (num_bodies, 3) [N]."""

    @property
    def torque(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """About each body's origin, shape (num_bodies, 3) [N m]."""

    @property
    def blocks(self) -> list[ForceBlock]:
        """One ForceBlock per contact pair."""

class Separation:
    """
    The separation field of a pair: every point of both bodies against the other.
    """

    @property
    def soft(self) -> float:
        """Soft minimum [m]."""

    @property
    def least(self) -> float:
        """Least separation, negative: penetration [m]."""

    @property
    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """World, shape (n, 3) [m]."""

    @property
    def normals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Of the surface asked, shape (n, 3)."""

    @property
    def phi(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Soft distances, shape (n,) [m]."""

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Shape (n,), sum 1."""

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Weights times soft penetration, shape (n,) [m]."""

    @property
    def body(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """The body each point belongs to, shape (n,)."""

    @property
    def centre_of_pressure(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Shape (3,) [m]."""

    @property
    def patch_covariance(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3, 3), order='F')]:
        """Shape (3, 3) [m^2]."""

    def contacts(self, count: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]:
        """Support points of the patch, shape (count, 3) [m], without iteration."""

class Softmin(ContactModel):
    """
    Soft-minimum contact between point clouds: explicit steps of microseconds, smooth to second order, gradients
    before contact; bodies may penetrate, and nothing is certified.
    """

    def __init__(self, *, stiffness: float = 1.0, newtons_per_metre: float | None = None, separation_temperature: float | None = None, force_temperature: float | None = None, damping_speed: float = 0.5, slip_speed: float = 0.05, normal_smoothing: float = 0.1, forces: str = 'mean_plane', damping: str = 'smooth', spacing: float | None = None, cloud_temperature: float = 0.1, tolerance: float = 1e-10, exact_boxes: bool = False, clouds: Mapping[str, PointCloud] = {}, support: Mapping[str, Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]] = {}) -> None:
        """
        stiffness: factor of that of each pair, or newtons_per_metre for all [N/m]. separation_temperature and
        force_temperature: softness of the minimum over points and of the ramp of the force [m]. damping_speed: approach at
        which the force doubles, slip_speed: below it friction fades [m/s]. normal_smoothing: shortens normals where planes
        disagree. forces: 'mean_plane', 'planes' or 'paper'; damping: 'smooth' or 'paper'. spacing [m] and cloud_temperature
        [squared spacings] of clouds made from shapes. clouds: PointCloud by body instead; support: points that meet
        half-spaces, by body. tolerance: of truncation, relative. exact_boxes: bodies that are one box have its exact surface.
        """

    def forces(self, model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None = None) -> ForceLinearization:
        """Wrenches on all bodies and their Jacobians, a ForceLinearization."""

    def number_names(self, model: Model) -> list[str]:
        """What RolloutGradient.contact is by: temperatures and points of clouds."""

    def second_derivative(self, model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], *, pair: int, moved: Annotated[NDArray[numpy.float64], dict(shape=(12), order='C')], sped: Annotated[NDArray[numpy.float64], dict(shape=(12), order='C')]) -> ForceBlock:
        """
        How by_pose and by_twist of a pair change while its bodies move by `moved` and their twists by `sped`, both of
        shape (12,): second derivatives of the wrench times a vector, in a ForceBlock.
        """

    def separation(self, model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], a: str, b: str) -> Separation:
        """The Separation field of two bodies, by name."""

    def cloud(self, model: Model, body: str) -> PointCloud | None:
        """The cloud of a body; None where its shape is exact."""

    def stable_step(self, model: Model, parameters: Parameters, integrator: str = 'euler') -> float:
        """The longest step that rollouts accept [s]."""

class StepOptions:
    """How a step is taken."""

    def __init__(self, *, dt: float = 0.01, tolerance: float = 1e-07, max_iterations: int = 200, pd_convention: str = 'standard', integrator: str = 'automatic') -> None: ...

    @property
    def dt(self) -> float:
        """Time step [s]."""

    @property
    def tolerance(self) -> float:
        """
        Newton stop: how far off a coordinate may still be, relative to the size of what it moves; the step computed there is still taken.
        """

    @property
    def max_iterations(self) -> int:
        """Newton iterations of one piece; a step that needs more is cut."""

    @property
    def integrator(self) -> str:
        """
        'automatic': 'euler' under a force law, else 'implicit'; 'euler' (semi-implicit) and 'rk4' are explicit.
        """

    @property
    def pd_convention(self) -> str:
        """
        'standard': 1/2 kp |q* - q|^2 + 1/2 kd dt |v* - v|^2; 'paper': the same without the halves and the dt.
        """

class FilterOptions:
    """How the collision filter certifies a step."""

    def __init__(self, *, keep: float = 0.1, tolerance: float = 0.05, curvature_scale: float = 1.0) -> None: ...

    @property
    def keep(self) -> float:
        """
        Fraction of the gap at the start that is kept everywhere on the certified path, in (0, 1).
        """

    @property
    def tolerance(self) -> float:
        """
        Of the remaining gap: where the search for the largest step may stop, in (0, 1).
        """

    @property
    def curvature_scale(self) -> float:
        """
        Multiplies the bounds of bending; anything below 1 gives up the certificate.
        """

class StepReport:
    """The certificate of one step."""

    @property
    def status(self) -> str:
        """
        'converged', 'max_iterations', 'line_search_failed', 'non_finite', 'intersecting' or 'squeezed'.
        """

    @property
    def iterations(self) -> int:
        """Newton iterations, in all pieces and attempts."""

    @property
    def pieces(self) -> int:
        """In how many pieces the step was taken; 1 unless it had to be cut."""

    @property
    def squeezed(self) -> object:
        """
        (body, a, b) of a step that ended as 'squeezed': scripted bodies leave `body` no room between a and b.
        """

    @property
    def residual(self) -> float:
        """
        Gradient norm where the last full Newton step was computed [N, N m]; that step was still taken.
        """

    @property
    def min_gap(self) -> float:
        """
        Certified lower bound of the gap between bodies [m]; inf without contact.
        """

    @property
    def shortest_step(self) -> float:
        """Smallest fraction of a Newton step that the collision filter let pass."""

    @property
    def detour(self) -> bool:
        """
        A body went around another within the step, although no straight way led there, also when it was cut.
        """

    @property
    def conditioning(self) -> float:
        """Smallest over largest pivot of the last Hessian."""

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""

    @property
    def potential(self) -> float:
        """Gravitational and spring energy [J]."""

    @property
    def contact(self) -> float:
        """Contact energy [J]."""

    @property
    def constraint_residual(self) -> float:
        """
        Largest violation of a constraint at the end of the step [m, or rad where it turns].
        """

    @property
    def contact_linearizations(self) -> int:
        """Calls of the contact model with derivatives."""

    @property
    def contact_energies(self) -> int:
        """Calls of the contact model for its energy alone."""

    @property
    def contact_evaluations(self) -> int:
        """All calls of the contact model."""

    def __repr__(self) -> str: ...

class StepCut:
    """A state between two pieces of a step that was cut."""

    def __init__(self, *, step: int, fraction: float, state: State) -> None: ...

    @property
    def step(self) -> int:
        """The step it belongs to."""

    @property
    def fraction(self) -> float:
        """Of the step's time at which it stands, in (0, 1)."""

    @property
    def state(self) -> State:
        """The end of one piece and the start of the next."""

    def __repr__(self) -> str: ...

class Trajectory:
    """
    States, controls and reports of a rollout. Arrays are read-only views: the gradient is computed from them.
    """

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)]:
        """Coordinates, shape (steps + 1, num_q)."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)]:
        """Velocities, shape (steps + 1, num_dofs)."""

    @property
    def controls(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)]:
        """As applied, shape (steps, num_controls)."""

    @property
    def script(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)]:
        """
        Coordinates of scripted bodies after each step, shape (steps, 7 num_kinematic).
        """

    @property
    def reports(self) -> list[StepReport]:
        """One StepReport per step taken."""

    @property
    def cuts(self) -> list[StepCut]:
        """
        A StepCut for every state inside a step that was cut, in order of time.
        """

    @property
    def model(self) -> Model:
        """The model that moved."""

    @property
    def parameters(self) -> Parameters:
        """A copy of the parameters it moved with."""

    @property
    def contact(self) -> str:
        """The contact model and its options as JSON; empty without contact."""

    @property
    def dt(self) -> float:
        """Time step [s]."""

    @property
    def options(self) -> StepOptions:
        """How its steps were taken."""

    @property
    def num_steps(self) -> int:
        """Steps taken."""

    @property
    def converged(self) -> bool:
        """Every step asked for was taken and converged."""

    @property
    def min_gap(self) -> float:
        """Smallest certified gap of all steps [m]; inf without contact."""

    def state(self, step: int) -> State:
        """State after `step` steps; negative counts from the end."""

    def poses(self) -> object:
        """
        World placement of every body at every state, shape (steps + 1, num_bodies, 7): position [m], quaternion (w, x, y, z).
        """

    def contact_forces(self) -> list[list[ContactForce]]:
        """Per step a list with a ContactForce for every interacting pair."""

    @staticmethod
    def from_states(model: Model, parameters: Parameters, q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], controls: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], *, dt: float | None = None, options: StepOptions | None = None, contact: str = '', reports: Sequence[StepReport] = [], cuts: Sequence[StepCut] = [], converged: bool = True, min_gap: float = float('inf')) -> Trajectory:
        """
        States that no single rollout made, as a trajectory: steps taken one by one, or by another engine. q: shape (steps + 1, num_q),
        v: (steps + 1, num_dofs), controls: (steps, num_controls).
        contact: as Trajectory.contact has it, or engine_description(name), which has no gradient here. reports: one per step, with the cuts that belong to them, or none; then
        min_gap [m] is that of all steps, and converged=False says that a further step failed: states from the first that is not finite are dropped.
        """

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class RolloutGradient:
    """
    Gradient of a loss by everything a rollout depends on, each with all else held fixed. Where the initial state depends on parameters, add (dq0/dtheta)^T q0 + (dv0/dtheta)^T v0 to that by parameters.
    """

    @property
    def q0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the initial coordinates, tangent, shape (num_dofs,)."""

    @property
    def v0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the initial velocities, shape (num_dofs,)."""

    @property
    def controls(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """Shape (steps, num_controls)."""

    @property
    def script(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
        """By scripted poses, tangent, shape (steps, 6 num_kinematic)."""

    @property
    def parameters(self) -> Parameters:
        """Same layout as Parameters."""

    @property
    def contact(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        By the force law's own numbers (Softmin.number_names), where contact_numbers asked for them.
        """

    @property
    def policy(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """By the policy's own numbers."""

def rollout(model: Model, parameters: Parameters, state: State, controls: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], *, dt: float | None = None, contact: ContactModel | str | None = 'automatic', tolerance: float | None = None, max_iterations: int | None = None, pd_convention: str | None = None, script: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')] | None = None, policy: object | None = None, guess: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')] | None = None, threads: int = 1, options: StepOptions | None = None, filter: FilterOptions | None = None) -> Trajectory:
    """
    Simulates len(controls) steps of dt [s] (default: model.default_dt) from `state`; controls has shape (steps, num_controls).

    Stops at the first step that does not converge (see Trajectory.converged and reports). tolerance: Newton stop, relative (see StepOptions).
    script: coordinates of kinematic bodies after each step, shape (steps, 7 num_kinematic); at rest when absent.
    contact: a ContactModel such as LongRange(), or the name of one with default options: 'longrange', 'polyhedral', 'ipc' or
    'ipc-global'; stiffness and friction are in the parameters. 'automatic': 'longrange' where the model has contact pairs. None: bodies pass
    through each other.
    policy: object with control(step, state) and vjp(step, state, control_bar) -> (q_bar, v_bar, parameters_bar) and optional num_parameters.
    guess: warm start, velocities after each step of a similar motion, shape (steps, num_dofs).
    threads: body pairs of contact in parallel, same bits for any number.
    options: StepOptions, instead of dt, tolerance, max_iterations and pd_convention. filter: FilterOptions of the collision filter.
    """

def rollout_batch(model: Model | Sequence[Model], parameters: Sequence[Parameters], states: Sequence[State], controls: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]], *, dt: float | None = None, contact: ContactModel | str | None = 'automatic', tolerance: float | None = None, max_iterations: int | None = None, pd_convention: str | None = None, threads: int | None = None, scripts: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')] | None] | None = None, policies: Sequence[object] | None = None, guesses: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')] | None] | None = None, options: StepOptions | None = None, filter: FilterOptions | None = None) -> list[Trajectory]:
    """
    Independent rollouts on threads (FARFIELD_THREADS or all cores). model: one, or a list of one per rollout. parameters: list of one
    or of one per rollout. scripts, policies, guesses: lists of one (or None) per rollout, each as in rollout. Same bits for any thread count.
    """

def rollout_vjp(trajectory: Trajectory, *, dL_dq: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, dL_dv: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, dL_dpose: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, dL_dparameters: Parameters | Sequence[Parameters] | None = None, allow_unconverged: bool = False, policy: object | None = None, threads: int = 1, contact_numbers: bool = False) -> RolloutGradient | list[RolloutGradient]:
    """
    Gradient of a loss from its partials per state: dL_dq, dL_dv of shape (steps + 1, num_dofs), tangent; dL_dpose of shape
    (steps + 1, num_bodies, 6): by the position of the body's origin, then by a rotation vector, world axes. Not copied.
    dL_dparameters: of a loss that depends on parameters directly, states held fixed; it is added to the gradient.
    contact_numbers: the gradient by temperatures and points of a force law as well.
    Several losses at once: every array gets one more extent before the others and dL_dparameters is a list; the result is a list
    of gradients, for little more than the price of one.
    """

class StepJacobian:
    """
    d(q, v)_next = A d(q, v) + B d(control) + S d(script) + C d(parameters), all tangent.
    """

    @property
    def A(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the state, shape (2 num_dofs, 2 num_dofs)."""

    @property
    def B(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the control, shape (2 num_dofs, num_controls)."""

    @property
    def S(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """
        By the script at the end of the step, shape (2 num_dofs, 6 num_kinematic).
        """

    @property
    def C(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]:
        """By the chosen parameters, shape (2 num_dofs, chosen)."""

def step_jacobian(trajectory: Trajectory, t: int, parameters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')] | Sequence[str] | None = None, *, threads: int = 1) -> StepJacobian:
    """
    Exact Jacobian of the step from state t to the next, from one factorisation; negative t counts from the end.
    parameters: what C is by: indices into the flat vector, or names as parameter_mask takes them.
    """

def rollout_vjp_batch(trajectories: Sequence[Trajectory], *, dL_dq: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]] | None = None, dL_dv: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]] | None = None, dL_dpose: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]] | None = None, allow_unconverged: bool = False, policies: Sequence[object] | None = None, threads: int | None = None) -> list[RolloutGradient]:
    """
    rollout_vjp of many trajectories on threads; each partial is a list with one array per trajectory.
    """

class ContactForce:
    """What contact did to one pair of bodies in a step."""

    @property
    def a(self) -> int:
        """Body index."""

    @property
    def b(self) -> int:
        """Body index, above a."""

    @property
    def gap(self) -> float:
        """Distance of the surfaces [m]."""

    @property
    def point(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Centre of pressure, half-way between the surfaces, world [m]."""

    @property
    def normal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Unit vector in which a is pushed; b is pushed the other way."""

    @property
    def normal_force(self) -> float:
        """How hard the bodies repel each other, >= 0 [N]."""

    def force_on(self, body: int) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Force on one of the two bodies, friction included, world axes [N]."""

    def friction_on(self, body: int) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """The part of force_on that is friction [N]."""

    def torque_on(self, body: int) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """Torque on one of the two bodies about its origin, world axes [N m]."""

    def __repr__(self) -> str: ...

class StepIteration:
    """One iteration of Newton's method."""

    @property
    def begin(self) -> float:
        """Where the piece that was tried begins, as a fraction of the step."""

    @property
    def length(self) -> float:
        """How long it is, as a fraction of the step."""

    @property
    def residual(self) -> float:
        """Norm of the gradient [N, N m]."""

    @property
    def excess(self) -> float:
        """Of the gradient over what is allowed; at most 1 at the end."""

    @property
    def slope(self) -> float:
        """Of the potential along the direction [J]."""

    @property
    def noise(self) -> float:
        """Rounding in differences of the potential [J]."""

    @property
    def way(self) -> float:
        """Fraction of the direction that was free of collisions."""

    @property
    def alpha(self) -> float:
        """Fraction that was taken; 0 when none fitted."""

    @property
    def limiting(self) -> object:
        """(a, b), the bodies in the way, or None."""

class Simulation:
    """
    A model that moves step by step. It keeps warm starts, so steps cost what those of a rollout do, with the same bits.
    """

    def __init__(self, model: Model, parameters: Parameters | None = None, *, contact: ContactModel | str | None = 'automatic', dt: float | None = None, tolerance: float | None = None, max_iterations: int | None = None, pd_convention: str | None = None, threads: int = 1, options: StepOptions | None = None, filter: FilterOptions | None = None, state: State | None = None) -> None:
        """
        Starts at `state`, else at the model's default state; parameters: by default those of the model. The others are as in rollout.
        """

    def step(self, control: numpy.typing.ArrayLike | None = None, script: numpy.typing.ArrayLike | None = None) -> StepReport:
        """
        One step of dt; returns its StepReport. control: shape (num_controls,), default model.default_control(). script: next
        coordinates of kinematic bodies, shape (7 num_kinematic,); they rest when absent.
        """

    def reset(self, state: State | None = None) -> None:
        """Back to a state (default: the model's), time 0 and cold warm starts."""

    @property
    def state(self) -> State:
        """A copy of where the model is."""

    @property
    def time(self) -> float:
        """[s]"""

    @property
    def num_steps(self) -> int:
        """Steps since the last reset."""

    @property
    def dt(self) -> float:
        """Time step [s]."""

    @property
    def options(self) -> StepOptions:
        """How its steps are taken."""

    @property
    def model(self) -> Model:
        """The model that moves."""

    @property
    def parameters(self) -> Parameters:
        """A copy of the parameters it moves with."""

    @property
    def contact(self) -> str:
        """The contact model and its options as JSON; empty without contact."""

    def contacts(self) -> list[ContactForce]:
        """
        A ContactForce for every interacting pair: what contact did in the last step.
        """

    def find_intersection(self) -> object:
        """(a, b, point) of the first two bodies whose surfaces cross, or None."""

    @property
    def last_cuts(self) -> list[StepCut]:
        """The StepCuts of the last step: states between its pieces."""

    def set_trace(self, on: bool) -> None:
        """Whether steps record their iterations, see last_trace."""

    @property
    def last_trace(self) -> list[StepIteration]:
        """
        A StepIteration for every iteration of the last step, if set_trace was on.
        """

    @property
    def last_report(self) -> StepReport:
        """The StepReport of the last step."""

    def save(self, path: str | os.PathLike) -> None:
        """
        Writes everything that the next steps depend on. The file is complete or not there at all.
        """

    @staticmethod
    def load(path: str | os.PathLike, *, threads: int = 1) -> Simulation:
        """
        What save wrote; goes on bit for bit. Raises FileError when the file is missing, truncated, foreign or damaged.
        """

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    def __repr__(self) -> str: ...

class SettleMove:
    """How a free body, with what hangs on it, was moved by settle."""

    @property
    def body(self) -> int:
        """Index of the free body."""

    @property
    def other(self) -> int:
        """Index of the body it overlapped with, -1 when it was only too near."""

    @property
    def overlap(self) -> float:
        """Length of the translation that ended the overlap [m]."""

    @property
    def force(self) -> float:
        """
        Of contact on it before it was moved to rest, in its own weights; 0 when it was not too near.
        """

    @property
    def shift(self) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]:
        """In all, shape (3,) [m]."""

class Settled:
    """The outcome of settle."""

    @property
    def state(self) -> State:
        """Where contact can start from."""

    @property
    def moves(self) -> list[SettleMove]:
        """A SettleMove for every free body that moved."""

def settle(model: Model, parameters: Parameters | None = None, state: State | None = None, contact: ContactModel | str | None = 'automatic', *, max_depth: float = 0.05) -> Settled:
    """
    A start that contact can go on from, near the one given: free bodies, with what hangs on them, are translated the shortest way out of what they touch or overlap, and those that stand nearer than they would rest are moved until contact carries their weight.

    max_depth: deepest overlap that is resolved, in sizes of the smaller of the two. ValueError for deeper ones and for bodies that hang on no free joint.
    """

def save_model(path: str | os.PathLike, model: Model, parameters: Parameters) -> None:
    """
    Writes the model and its parameters, without loss. The file is complete or not there at all.
    """

def load_model(path: str | os.PathLike) -> tuple[Model, Parameters]:
    """
    What save_model wrote. Raises FileError when the file is missing, truncated, foreign or damaged.
    """

def model_to_bytes(model: Model, parameters: Parameters) -> bytes:
    """The bytes that save_model would write."""

def model_from_bytes(data: bytes) -> tuple[Model, Parameters]:
    """The model and parameters of model_to_bytes."""

def save_trajectory(path: str | os.PathLike, trajectory: Trajectory) -> None:
    """
    Writes the trajectory with its model and the options of its contact model, without loss.
    """

def load_trajectory(path: str | os.PathLike) -> Trajectory:
    """
    What save_trajectory wrote, ready for rollout_vjp. Raises FileError when the file is missing, truncated, foreign or damaged.
    """

def save_state(path: str | os.PathLike, state: State) -> None:
    """Writes q and v, without loss."""

def load_state(path: str | os.PathLike) -> State:
    """What save_state wrote."""

class GrainShape:
    """Outline of a grain about its centroid."""

    def __init__(self, name: str, rings: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, 2), order='C')]]) -> None:
        """
        From an outer ring (counter-clockwise) and holes (clockwise), each of shape (n, 2) [m].
        """

    @staticmethod
    def library(name: str, radius: float = 1.0) -> GrainShape:
        """A library shape of this circumradius [m]."""

    @staticmethod
    def block(width: float, height: float) -> GrainShape:
        """A rectangle [m]."""

    @staticmethod
    def library_names() -> list[str]: ...

    def scaled(self, radius: float) -> GrainShape:
        """The same outline with another circumradius [m]."""

    @property
    def name(self) -> str: ...

    @property
    def area(self) -> float:
        """[m^2]"""

    @property
    def gyration2(self) -> float:
        """Inertia per mass [m^2]."""

    @property
    def radius(self) -> float:
        """Circumradius about the centroid [m]."""

    @property
    def symmetry(self) -> int:
        """Turns by 2 pi / symmetry map the outline onto itself."""

    @property
    def rings(self) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None, 2), order='C')]]:
        """Outer ring and holes, each of shape (n, 2) [m]."""

    @property
    def hull(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 2), order='C')]:
        """Corners of the convex hull, shape (n, 2), counter-clockwise [m]."""

    @property
    def hash(self) -> int:
        """Depends on the outline, not on its size."""

class GrainMap:
    """Signed distance of two grains by their relative pose."""

    @property
    def description(self) -> str: ...

    def evaluate(self, poses: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 5), order='C')]:
        """
        Rows (theta, x, y) of B in A's frame to rows (d, dd/dtheta, dd/dx, dd/dy, arm). Where d > 0 only its sign is promised.
        """

def grain_exact_map(a: GrainShape, b: GrainShape) -> GrainMap:
    """Exact polygon distance and penetration depth."""

class GrainTable:
    """Tabulated contact map, in units of the larger circumradius."""

    @property
    def num_theta(self) -> int: ...

    @property
    def num_space(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

def grain_table(a: GrainShape, b: GrainShape, *, theta: int = 128, space: int = 128, paper_labels: bool = False, threads: int = 1, progress: Callable[[int, int], None] | None = None) -> GrainTable:
    """
    Builds the table of a pair. `progress(done, total)` is called after every slice; with threads it must be None.
    """

def grain_table_map(table: GrainTable, a: GrainShape, b: GrainShape) -> GrainMap:
    """The map of a table; refused unless it was built for these shapes."""

class GrainMapAudit:
    """Errors of a contact map near contact."""

    @property
    def rmse(self) -> float:
        """Of the distance, in circumradii."""

    @property
    def normal_median(self) -> float:
        """[degrees]"""

    @property
    def normal_p90(self) -> float:
        """[degrees]"""

    @property
    def wrap_jump(self) -> float:
        """In circumradii."""

    @property
    def samples(self) -> int: ...

    def require(self, place: str, *, rmse: float = 0.005, normal_median: float = 2.0) -> None:
        """
        Raises ValueError, saying what to raise, when the map is worse than this.
        """

def grain_audit(map: GrainMap, a: GrainShape, b: GrainShape, *, samples: int = 4000, seed: int = 1) -> GrainMapAudit:
    """
    Compares a map with the exact distance at random configurations near contact.
    """

def save_grain_table(path: str | os.PathLike, table: GrainTable, audit: GrainMapAudit) -> None: ...

def load_grain_table(path: str | os.PathLike) -> tuple:
    """Table and audit of a file."""

class GrainWall:
    """A half-plane, a disc, or the inside of a circle."""

    @staticmethod
    def half_plane(normal: Sequence[float], offset: float = 0.0, *, friction: float = 0.5, velocity: Sequence[float] = [0.0, 0.0]) -> GrainWall:
        """Grains stay where normal . x >= offset."""

    @staticmethod
    def disc(centre: Sequence[float], radius: float, *, friction: float = 0.5, spin: float = 0.0) -> GrainWall:
        """Grains stay outside."""

    @staticmethod
    def container(centre: Sequence[float], radius: float, *, friction: float = 0.5, spin: float = 0.0) -> GrainWall:
        """Grains stay inside."""

    @property
    def enabled(self) -> bool: ...

    @enabled.setter
    def enabled(self, arg: bool, /) -> None: ...

    @property
    def velocity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]:
        """[m/s]"""

    @velocity.setter
    def velocity(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')], /) -> None: ...

    @property
    def friction(self) -> float: ...

    @friction.setter
    def friction(self, arg: float, /) -> None: ...

    @property
    def spin(self) -> float:
        """[rad/s]"""

    @spin.setter
    def spin(self, arg: float, /) -> None: ...

    @property
    def normal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]: ...

    @property
    def offset(self) -> float:
        """[m]"""

    @property
    def centre(self) -> Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]:
        """[m]"""

    @property
    def radius(self) -> float:
        """[m]"""

    @property
    def kind(self) -> str: ...

class GrainLaw:
    """Stiffness, damping and friction of contacts between grains."""

    def __init__(self, *, normal_stiffness: float, normal_damping: float, tangent_stiffness: float, tangent_damping: float, friction: float) -> None: ...

    @staticmethod
    def default(*, mass: float, radius: float, gravity: float = 9.81, layers: float = 100.0, speed: float = 0.0, restitution: float = 0.5, friction: float = 0.5, depth: float = 0.01) -> GrainLaw:
        """
        From the weight of the layers and the fastest impact; depth is the wanted penetration in radii.
        """

    @property
    def normal_stiffness(self) -> float:
        """[N/m]"""

    @property
    def normal_damping(self) -> float:
        """[N s/m]"""

    @property
    def tangent_stiffness(self) -> float:
        """[N/m]"""

    @property
    def tangent_damping(self) -> float:
        """[N s/m]"""

    @property
    def friction(self) -> float: ...

class GrainMotion:
    """A prescribed turn about a pivot that moves along."""

    def __init__(self, *, velocity: Sequence[float] = [0.0, 0.0], spin: float = 0.0, pivot: Sequence[float] = [0.0, 0.0]) -> None: ...

    @property
    def velocity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]:
        """[m/s]"""

    @property
    def spin(self) -> float:
        """[rad/s]"""

    @property
    def pivot(self) -> Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]:
        """[m]"""

class GrainSystem:
    """Many grains in motion."""

    def __init__(self, shapes: Sequence[GrainShape], maps: list, *, law: GrainLaw, gravity: Sequence[float] = [0.0, -9.81], dt: float = 0.0, density: float = 1.0, skin: float = 0.15, smoothing: float = 0.001, start_depth: float = 0.02, threads: int = 1) -> None:
        """
        maps[a][b] for a <= b is the GrainMap of shapes a and b; others may be None. dt 0 is chosen from the stiffness.
        """

    def add_motion(self, motion: GrainMotion) -> int: ...

    def set_motion(self, index: int, motion: GrainMotion) -> None: ...

    def motion(self, index: int) -> GrainMotion: ...

    def add_wall(self, wall: GrainWall) -> int: ...

    def set_wall(self, index: int, wall: GrainWall) -> None: ...

    def wall(self, index: int) -> GrainWall: ...

    def add(self, shape: int, poses: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], *, velocities: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')] = ..., motion: int = -1) -> int:
        """
        Adds grains of one shape at rows (x, y, theta); the number of the first. motion -1: free.
        """

    def set_driver(self, grain: int, motion: int) -> None:
        """
        Hands a grain to a motion; -1 sets it free, -2 takes it out: it stays at rest and touches nothing.
        """

    def set_friction(self, friction: float) -> None: ...

    def check_start(self) -> None:
        """
        Raises ValueError when grains overlap at the start or maps are missing.
        """

    def run(self, steps: int) -> bool:
        """Takes steps; False when a coordinate is no longer finite."""

    def state(self) -> dict:
        """Everything needed to continue exactly, by grain number."""

    def set_state(self, state: dict) -> None: ...

    def audit(self) -> dict:
        """Energies [J], momenta, deepest penetration [m], numbers of contacts."""

    def touching(self) -> list[list[float]]:
        """Rows (grain, grain, distance [m]) of touching pairs."""

    def counters(self) -> dict: ...

    def reaction(self, motion: int) -> list[float]:
        """Force and torque about the pivot of grains on those of a motion."""

    @property
    def num_grains(self) -> int: ...

    @property
    def dt(self) -> float:
        """[s]"""

    @property
    def time(self) -> float:
        """[s]"""

    @property
    def shapes(self) -> list[GrainShape]: ...

    @property
    def shape_index(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    @property
    def free(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')]: ...

class GrainNetworks:
    """Contact map of a pair as two small networks."""

    @property
    def layers(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def num_parameters(self) -> int: ...

def grain_train_networks(a: GrainShape, b: GrainShape, *, layers: int = 5, width: int = 64, paper: bool = False, samples: int = 120000, steps: int = 25000, batch: int = 512, seed: int = 1, progress: Callable[[int, int], None] | None = None) -> GrainNetworks:
    """
    Trains the networks of a pair with Adam on exact labels. paper: ReLU on the raw angle, for replication. `progress(done, total)` is called every hundred steps.
    """

def grain_network_map(networks: GrainNetworks, a: GrainShape, b: GrainShape) -> GrainMap:
    """
    The map of networks; refused unless they were trained for these shapes.
    """

def save_grain_networks(path: str | os.PathLike, networks: GrainNetworks, audit: GrainMapAudit) -> None: ...

def load_grain_networks(path: str | os.PathLike) -> GrainNetworks:
    """
    Networks of a file, ours or trained elsewhere (tensor names as of torch.nn.Sequential).
    """
